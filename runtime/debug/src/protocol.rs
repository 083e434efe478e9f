//! Messages of the Debug Adapter Protocol: a header with the length, then JSON.
//!
//! Owns the framing and the numbers of messages. Must not depend on their meaning.

use std::{
    io::{self, BufRead, Write},
    sync::{Mutex, PoisonError},
};

use serde_json::{Value, json};

/// The maximum length of a message, so that a broken header does not exhaust memory.
const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// A request of the client.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    seq: i64,
    pub(crate) command: String,
    pub(crate) arguments: Value,
}

/// Reads the next request. Messages of other types and malformed ones are skipped. `None` at the end of input.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    loop {
        let Some(length) = length(input)? else { return Ok(None) };
        let mut bytes = vec![0; length];
        input.read_exact(&mut bytes)?;
        let Ok(message) = serde_json::from_slice::<Value>(&bytes) else { continue };
        if let (Some("request"), Some(seq), Some(command)) =
            (message["type"].as_str(), message["seq"].as_i64(), message["command"].as_str())
        {
            let (command, arguments) = (command.to_owned(), message["arguments"].clone());
            return Ok(Some(Request { seq, command, arguments }));
        }
    }
}

/// Reads headers up to an empty line, and returns the length of the message. `None` at the end of input.
fn length(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok().filter(|length| *length <= MAX_MESSAGE_BYTES);
        }
        if line.is_empty()
            && let Some(length) = length
        {
            return Ok(Some(length));
        }
    }
}

/// The messages to the client.
pub(crate) struct Client(Mutex<Output>);

struct Output {
    stream: Box<dyn Write + Send>,
    seq: i64,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

impl Client {
    pub(crate) fn new(stream: Box<dyn Write + Send>) -> Self {
        Self(Mutex::new(Output { stream, seq: 0 }))
    }

    /// Answers a request, with a result or with a message for the user.
    pub(crate) fn answer(&self, request: &Request, result: Result<Value, String>) {
        let mut message = json!({
            "type": "response",
            "request_seq": request.seq,
            "command": request.command,
            "success": result.is_ok(),
        });
        match result {
            Ok(Value::Null) => {}
            Ok(body) => message["body"] = body,
            Err(why) => {
                message["message"] = json!(why);
                message["body"] = json!({ "error": { "id": 1, "format": why, "showUser": true } });
            }
        }
        self.send(message);
    }

    pub(crate) fn event(&self, name: &str, body: Value) {
        self.send(json!({ "type": "event", "event": name, "body": body }));
    }

    /// Shows text in the console of the client.
    pub(crate) fn output(&self, category: &str, text: &str) {
        if !text.is_empty() {
            self.event("output", json!({ "category": category, "output": text }));
        }
    }

    fn send(&self, mut message: Value) {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        output.seq += 1;
        message["seq"] = json!(output.seq);
        let text = message.to_string();
        // If the client is gone, the end of its requests ends the session.
        let _ = write!(output.stream, "Content-Length: {}\r\n\r\n{text}", text.len());
        let _ = output.stream.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(text: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{text}", text.len())
    }

    #[test]
    fn malformed_messages_are_skipped() {
        let good = r#"{"type":"request","seq":7,"command":"threads"}"#;
        let input = [framed("{]"), framed("{}"), "rubbish\r\n\r\n".to_owned(), framed(good)].concat();
        let mut input = input.as_bytes();
        let request = read(&mut input).unwrap().unwrap();
        assert_eq!((request.seq, request.command.as_str()), (7, "threads"));
        assert!(read(&mut input).unwrap().is_none());
    }

    #[test]
    fn truncated_input_is_an_error() {
        assert!(read(&mut &b"Content-Length: 100\r\n\r\n{"[..]).is_err());
    }
}
