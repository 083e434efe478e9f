//! Runs a program with input and a timeout, and collects its output.

use std::{
    env,
    ffi::OsString,
    io::{Read, Write as _},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The output and exit status of a program.
#[derive(Debug)]
pub struct Finished {
    /// The exit status.
    pub status: ExitStatus,
    /// The bytes of standard output.
    pub stdout: Vec<u8>,
    /// The text of standard error.
    pub stderr: String,
}

impl Finished {
    /// The exit code, unless it was killed.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// Runs a program. The error is a message: it did not start, or it timed out.
pub fn run(command: &mut Command, input: &[u8], limit: Duration) -> Result<Finished, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot start {name}: {e}"))?;
    let (mut stdin, mut stdout, mut stderr) = (
        child.stdin.take().expect("it is piped"),
        child.stdout.take().expect("it is piped"),
        child.stderr.take().expect("it is piped"),
    );
    let (status, stdout, stderr) = thread::scope(|scope| {
        // The program may close its input early.
        scope.spawn(move || drop(stdin.write_all(input)));
        let stdout = scope.spawn(move || read(&mut stdout));
        let stderr = scope.spawn(move || read(&mut stderr));
        let status = wait(&mut child, limit);
        if status.is_err() {
            // The program may have exited in the meantime.
            let _ = child.kill();
            let _ = child.wait();
        }
        let texts =
            (stdout.join().expect("reading does not panic"), stderr.join().expect("reading does not panic"));
        (status, texts.0, texts.1)
    });
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    match status {
        Ok(status) => Ok(Finished { status, stdout, stderr }),
        Err(reason) => Err(format!("{name} {reason}; it wrote:\n{stderr}")),
    }
}

/// Runs a program without input. Panics if it does not start, or does not end in time.
#[track_caller]
pub fn finish(command: &mut Command, limit: Duration) -> Finished {
    run(command, b"", limit).unwrap_or_else(|reason| panic!("{reason}"))
}

/// Runs a program that must succeed. Returns its standard output.
#[track_caller]
pub fn succeed(command: &mut Command, limit: Duration) -> String {
    let finished = finish(command, limit);
    assert_eq!(finished.code(), Some(0), "{command:?}: {}{}", finished.text(), finished.stderr);
    finished.text()
}

fn read(from: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Keeps the output before a read error.
    let _ = from.read_to_end(&mut bytes);
    bytes
}

/// The search path, with this folder in front.
pub fn path_with(folder: &Path) -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(env::split_paths(&path));
    env::join_paths(folders).expect("a path")
}

/// Waits until a process exits.
pub fn wait(child: &mut std::process::Child, limit: Duration) -> Result<ExitStatus, String> {
    let begin = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if begin.elapsed() > limit => return Err(format!("does not end within {limit:?}")),
            Ok(None) => thread::sleep(pause),
            Err(e) => return Err(format!("cannot be waited for: {e}")),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn output_and_exit_code_are_returned() {
        let finished =
            run(Command::new("sh").args(["-c", "cat; echo no >&2; exit 3"]), b"yes", 10 * SECOND).unwrap();
        assert_eq!(
            (finished.code(), finished.text().as_str(), finished.stderr.as_str()),
            (Some(3), "yes", "no\n")
        );
    }

    #[test]
    fn a_program_that_hangs_is_stopped() {
        let reason = run(Command::new("sleep").arg("60"), b"", SECOND / 10).unwrap_err();
        assert!(reason.contains("does not end"), "{reason}");
    }
}
