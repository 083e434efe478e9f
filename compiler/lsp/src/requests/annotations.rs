//! Requests for annotations of a document: code lenses, inline values and diagnostics.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use lsp_server::{Request, Response};
use lsp_types::{
    DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentDiagnosticReportResult,
    FullDocumentDiagnosticReport, RelatedFullDocumentDiagnosticReport,
    RelatedUnchangedDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport,
    request::{self as requests, Request as _},
};

use super::{file, serve};
use crate::{
    features::{lenses, values},
    session::Session,
    uri,
};

/// Answers a request; `Err` returns a request that is not in this file.
pub(super) fn answer(session: &mut Session, request: Request) -> Result<Response, Request> {
    Ok(match request.method.as_str() {
        requests::CodeLensRequest::METHOD => {
            serve::<requests::CodeLensRequest>(session, request, |session, it| {
                let is_wanted = session.client_state.settings.code_lens;
                let found = is_wanted.then(|| file(session, &it.text_document, lenses::lenses)).flatten();
                Ok(Some(found.unwrap_or_default()))
            })
        }
        requests::InlineValueRequest::METHOD => {
            serve::<requests::InlineValueRequest>(session, request, |session, it| {
                let stopped = it.context.stopped_location;
                Ok(file(session, &it.text_document, |analysis, file| {
                    values::values(analysis, file, it.range, stopped)
                }))
            })
        }
        requests::DocumentDiagnosticRequest::METHOD => {
            serve::<requests::DocumentDiagnosticRequest>(session, request, |session, it| {
                Ok(document_diagnostic(session, it))
            })
        }
        _ => return Err(request),
    })
}

/// The diagnostics of a document, or "unchanged" if the client already has them.
fn document_diagnostic(
    session: &mut Session,
    parameters: DocumentDiagnosticParams,
) -> DocumentDiagnosticReportResult {
    let items = session.pull(&uri::name(&parameters.text_document.uri));
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(&items).unwrap_or_default().hash(&mut hasher);
    let result_id = format!("{:x}", hasher.finish());
    let report = if parameters.previous_result_id.as_ref() == Some(&result_id) {
        DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport { result_id },
        })
    } else {
        DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport {
                result_id: Some(result_id),
                items,
            },
        })
    };
    report.into()
}
