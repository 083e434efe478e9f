//! Reads and writes messages on standard input and output. Malformed messages are skipped; only the end of input
//! stops the reader.

use std::{
    io::{self, BufRead, ErrorKind},
    thread::JoinHandle,
};

use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::Message;

/// Input from the client.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    Message(Message),
    /// Input that is not a valid message, and why.
    Malformed(String),
}

/// Both channels, and the writer thread, which ends when all senders are dropped.
pub(crate) struct Transport {
    pub(crate) incoming: Receiver<Incoming>,
    pub(crate) outgoing: Sender<Message>,
    pub(crate) writer: JoinHandle<()>,
}

/// Standard input and output.
pub(crate) fn stdio() -> io::Result<Transport> {
    let (to_server, incoming) = unbounded();
    let (outgoing, from_server) = unbounded::<Message>();
    // The reader thread ends with the process, because nothing can interrupt a blocked read.
    std::thread::Builder::new()
        .name("reader".to_owned())
        .spawn(move || read(&mut io::stdin().lock(), |incoming| to_server.send(incoming).is_ok()))?;
    let writer = std::thread::Builder::new().name("writer".to_owned()).spawn(move || {
        let mut stdout = io::stdout().lock();
        for message in from_server {
            if message.write(&mut stdout).is_err() {
                return;
            }
        }
    })?;
    Ok(Transport { incoming, outgoing, writer })
}

/// Reads until the end of input, or until `take` returns `false`.
fn read(input: &mut impl BufRead, mut take: impl FnMut(Incoming) -> bool) {
    loop {
        let incoming = match Message::read(input) {
            Ok(Some(message)) => Incoming::Message(message),
            Ok(None) => return,
            Err(error) if error.kind() == ErrorKind::InvalidData => Incoming::Malformed(error.to_string()),
            Err(_) => return,
        };
        if !take(incoming) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> Vec<Incoming> {
        let mut all = Vec::new();
        read(&mut input, |incoming| {
            all.push(incoming);
            true
        });
        all
    }

    #[test]
    fn malformed_messages_are_skipped() {
        let good = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let input =
            [framed("{]"), framed("[1,2]"), framed(good), "rubbish\r\n".into(), framed(good)].concat();
        let is_message: Vec<_> =
            all(input.as_bytes()).iter().map(|it| matches!(it, Incoming::Message(_))).collect();
        assert_eq!(is_message.iter().filter(|good| **good).count(), 2);
        assert_eq!(is_message.first(), Some(&false));
    }

    #[test]
    fn truncated_input_ends_the_reader() {
        assert!(all(b"Content-Length: 100\r\n\r\n{").is_empty());
    }
}
