//! Which function answers which request.

use lsp_server::{ErrorCode, Request, Response};

use crate::session::Session;

/// The answer to a request about a document.
pub(crate) fn answer(_session: &mut Session, request: Request) -> Response {
    let message = format!("{} is not served", request.method);
    Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
}
