//! Further requests: the call hierarchy, implementations, code lenses, inline values, pulled diagnostics.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use lsp_server::{Request, Response};
use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, DocumentDiagnosticParams, DocumentDiagnosticReport,
    DocumentDiagnosticReportResult, FullDocumentDiagnosticReport, GotoDefinitionResponse, Location,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport, TextDocumentIdentifier,
    TextDocumentPositionParams, UnchangedDocumentDiagnosticReport,
    request::{self as requests, Request as _},
};

use super::{at, file, serve};
use crate::{
    features::{calls, definition, lenses, references, values},
    session::Session,
    uri, workspace,
};

/// Answers a request; `Err` returns a request that is not in this file.
pub(super) fn answer(session: &mut Session, request: Request) -> Result<Response, Request> {
    Ok(match request.method.as_str() {
        requests::CallHierarchyPrepare::METHOD => {
            serve::<requests::CallHierarchyPrepare>(session, request, |session, it| {
                let found = at(session, &it.text_document_position_params, calls::prepare).flatten();
                Ok(found.map(|item| vec![item]))
            })
        }
        requests::CallHierarchyIncomingCalls::METHOD => {
            serve::<requests::CallHierarchyIncomingCalls>(session, request, |session, it| {
                Ok(Some(incoming(session, &it.item)))
            })
        }
        requests::CallHierarchyOutgoingCalls::METHOD => {
            serve::<requests::CallHierarchyOutgoingCalls>(session, request, |session, it| {
                Ok(at(session, &item_position(&it.item), calls::outgoing))
            })
        }
        requests::GotoImplementation::METHOD => {
            serve::<requests::GotoImplementation>(session, request, |session, it| {
                let found = implementations(session, &it.text_document_position_params);
                Ok(Some(GotoDefinitionResponse::Array(found)))
            })
        }
        requests::CodeLensRequest::METHOD => {
            serve::<requests::CodeLensRequest>(session, request, |session, it| {
                let is_wanted = session.world.settings.code_lens;
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
                Ok(pulled(session, it))
            })
        }
        _ => return Err(request),
    })
}

/// The position of an item of the call hierarchy.
fn item_position(item: &CallHierarchyItem) -> TextDocumentPositionParams {
    TextDocumentPositionParams {
        text_document: TextDocumentIdentifier { uri: item.uri.clone() },
        position: item.selection_range.start,
    }
}

/// The callers of a function, in all sources that see its declaration.
fn incoming(session: &mut Session, item: &CallHierarchyItem) -> Vec<CallHierarchyIncomingCall> {
    let mut found = Vec::new();
    if let Some(key) = at(session, &item_position(item), references::key).flatten() {
        workspace::see_key(session, &key, &mut |analysis, thing| {
            calls::incoming(analysis, thing, &mut found)
        });
    }
    found
}

/// The definitions of the thing at a position, in all sources that see its declaration.
fn implementations(session: &mut Session, position: &TextDocumentPositionParams) -> Vec<Location> {
    let mut found: Vec<Location> = Vec::new();
    if let Some(key) = at(session, position, references::key).flatten() {
        workspace::see_key(session, &key, &mut |analysis, thing| {
            for location in definition::definitions(analysis, thing) {
                if !found.contains(&location) {
                    found.push(location);
                }
            }
        });
    }
    found
}

/// The diagnostics of a document, unless the client has them already.
fn pulled(session: &mut Session, asked: DocumentDiagnosticParams) -> DocumentDiagnosticReportResult {
    let items = session.pull(&uri::name(&asked.text_document.uri));
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(&items).unwrap_or_default().hash(&mut hasher);
    let result_id = format!("{:x}", hasher.finish());
    let report = if asked.previous_result_id.as_ref() == Some(&result_id) {
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
