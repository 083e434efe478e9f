//! Dispatches requests: parses the parameters, calls the feature, serializes the result.

mod annotations;
mod hierarchies;

use kiln_fmt::{Edit, Style};
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::{
    CompletionList, CompletionResponse, DocumentSymbolResponse, GotoDefinitionResponse, Location,
    PrepareRenameResponse, SemanticTokensFullDeltaResult, SemanticTokensRangeResult, TextDocumentIdentifier,
    TextDocumentPositionParams, TextEdit, WorkspaceSymbolResponse,
    request::{self as requests, Request as _},
};

use crate::{
    analysis::{Analysis, Cursor},
    features::{
        actions, completion, definition, folding, formatting, highlight, hints, hover, links, references,
        selection, signature, symbols, tokens,
    },
    position::Lines,
    session::Session,
    uri, workspace,
};

/// The result of a request; the error is a message for the user.
type Answer<T> = Result<T, String>;

/// Answers a request. Handles those about the meaning of names, and dispatches the others.
pub(crate) fn answer(session: &mut Session, request: Request) -> Response {
    match request.method.as_str() {
        requests::GotoDefinition::METHOD => {
            serve::<requests::GotoDefinition>(session, request, |session, it| {
                let found = at_position(session, &it.text_document_position_params, definition::definition);
                Ok(found.map(GotoDefinitionResponse::Array))
            })
        }
        requests::GotoDeclaration::METHOD => {
            serve::<requests::GotoDeclaration>(session, request, |session, it| {
                let found = at_position(session, &it.text_document_position_params, definition::declaration);
                Ok(found.map(GotoDefinitionResponse::Array))
            })
        }
        requests::GotoTypeDefinition::METHOD => {
            serve::<requests::GotoTypeDefinition>(session, request, |session, it| {
                let found =
                    at_position(session, &it.text_document_position_params, definition::type_definition);
                Ok(found.map(GotoDefinitionResponse::Array))
            })
        }
        requests::HoverRequest::METHOD => serve::<requests::HoverRequest>(session, request, |session, it| {
            Ok(at_position(session, &it.text_document_position_params, hover::hover).flatten())
        }),
        requests::References::METHOD => serve::<requests::References>(session, request, |session, it| {
            let with_declarations = it.context.include_declaration;
            Ok(Some(references(session, &it.text_document_position, with_declarations)))
        }),
        requests::DocumentHighlightRequest::METHOD => {
            serve::<requests::DocumentHighlightRequest>(session, request, |session, it| {
                Ok(at_position(session, &it.text_document_position_params, highlight::highlight))
            })
        }
        requests::PrepareRenameRequest::METHOD => {
            serve::<requests::PrepareRenameRequest>(session, request, |session, it| {
                let prepared = at_position(session, &it, crate::features::rename::prepare).transpose()?;
                Ok(prepared.map(|(range, placeholder)| PrepareRenameResponse::RangeWithPlaceholder {
                    range,
                    placeholder,
                }))
            })
        }
        requests::Rename::METHOD => serve::<requests::Rename>(session, request, |session, it| {
            workspace::rename(session, &it.text_document_position, &it.new_name).map(Some)
        }),
        requests::WorkspaceSymbolRequest::METHOD => {
            serve::<requests::WorkspaceSymbolRequest>(session, request, |session, it| {
                Ok(Some(WorkspaceSymbolResponse::Flat(workspace::symbols(session, &it.query))))
            })
        }
        _ => answer_about_text(session, request),
    }
}

/// Answers a request about text to complete, color or format.
fn answer_about_text(session: &mut Session, request: Request) -> Response {
    match request.method.as_str() {
        requests::Completion::METHOD => serve::<requests::Completion>(session, request, |session, it| {
            Ok(complete(session, &it.text_document_position).map(CompletionResponse::List))
        }),
        requests::ResolveCompletionItem::METHOD => {
            serve::<requests::ResolveCompletionItem>(session, request, |session, it| {
                Ok(match session.any_analysis() {
                    Some(analysis) => completion::resolve(analysis, it),
                    None => it,
                })
            })
        }
        requests::SignatureHelpRequest::METHOD => {
            serve::<requests::SignatureHelpRequest>(session, request, |session, it| {
                Ok(at_position(session, &it.text_document_position_params, signature::help).flatten())
            })
        }
        requests::SemanticTokensFullRequest::METHOD => {
            serve::<requests::SemanticTokensFullRequest>(session, request, |session, it| {
                Ok(match semantic_tokens(session, &it.text_document, None) {
                    Some(SemanticTokensFullDeltaResult::Tokens(all)) => Some(all.into()),
                    _ => None,
                })
            })
        }
        requests::SemanticTokensFullDeltaRequest::METHOD => {
            serve::<requests::SemanticTokensFullDeltaRequest>(session, request, |session, it| {
                Ok(semantic_tokens(session, &it.text_document, Some(&it.previous_result_id)))
            })
        }
        requests::SemanticTokensRangeRequest::METHOD => {
            serve::<requests::SemanticTokensRangeRequest>(session, request, |session, it| {
                let found = file(session, &it.text_document, |analysis, file| {
                    tokens::tokens(analysis, file, Some(it.range))
                });
                Ok(found.map(SemanticTokensRangeResult::Tokens))
            })
        }
        requests::InlayHintRequest::METHOD => {
            serve::<requests::InlayHintRequest>(session, request, |session, it| {
                let wanted = session.client_state.settings.inlay_hints;
                Ok(file(session, &it.text_document, |analysis, file| {
                    hints::hints(analysis, file, it.range, wanted)
                }))
            })
        }
        requests::Formatting::METHOD => serve::<requests::Formatting>(session, request, |session, it| {
            Ok(formatting(session, &it.text_document, formatting::format_document))
        }),
        requests::RangeFormatting::METHOD => {
            serve::<requests::RangeFormatting>(session, request, |session, it| {
                let encoding = session.client_state.encoding;
                Ok(formatting(session, &it.text_document, |text, style| {
                    let lines = Lines::new(text, encoding);
                    let range = lines.offset(text, it.range.start)..lines.offset(text, it.range.end);
                    formatting::range(text, range, style)
                }))
            })
        }
        _ => answer_about_structure(session, request),
    }
}

/// Answers a request about the structure of a document, or for edits of it.
fn answer_about_structure(session: &mut Session, request: Request) -> Response {
    match request.method.as_str() {
        requests::OnTypeFormatting::METHOD => {
            serve::<requests::OnTypeFormatting>(session, request, |session, it| {
                let (position, encoding) = (&it.text_document_position, session.client_state.encoding);
                Ok(formatting(session, &position.text_document, |text, style| {
                    let offset = Lines::new(text, encoding).offset(text, position.position);
                    formatting::on_type(text, offset, &it.ch, style)
                }))
            })
        }
        requests::DocumentSymbolRequest::METHOD => {
            serve::<requests::DocumentSymbolRequest>(session, request, |session, it| {
                let found = file(session, &it.text_document, symbols::symbols);
                Ok(found.map(DocumentSymbolResponse::Nested))
            })
        }
        requests::FoldingRangeRequest::METHOD => {
            serve::<requests::FoldingRangeRequest>(session, request, |session, it| {
                Ok(file(session, &it.text_document, folding::ranges))
            })
        }
        requests::SelectionRangeRequest::METHOD => {
            serve::<requests::SelectionRangeRequest>(session, request, |session, it| {
                let around = |position| {
                    let text_document = it.text_document.clone();
                    at_position(
                        session,
                        &TextDocumentPositionParams { text_document, position },
                        selection::enclosing_ranges,
                    )
                };
                Ok(it.positions.clone().into_iter().map(around).collect())
            })
        }
        requests::DocumentLinkRequest::METHOD => {
            serve::<requests::DocumentLinkRequest>(session, request, |session, it| {
                Ok(file(session, &it.text_document, links::links))
            })
        }
        requests::CodeActionRequest::METHOD => {
            serve::<requests::CodeActionRequest>(session, request, |session, it| {
                let wanted = it.context.only.as_deref();
                let found = file(session, &it.text_document, |analysis, file| {
                    let text = analysis.text(file);
                    let lines = analysis.lines(file)?;
                    let range = lines.offset(text, it.range.start)..lines.offset(text, it.range.end);
                    Some(actions::actions(analysis, file, &range, wanted))
                });
                let name = uri::name(&it.text_document.uri);
                let races = session.races.actions(&session.client_state, &name, it.range, wanted);
                Ok(found.flatten().map(|found| found.into_iter().chain(races).collect::<Vec<_>>()))
            })
        }
        _ => hierarchies::answer(session, request)
            .or_else(|request| annotations::answer(session, request))
            .unwrap_or_else(|request| {
                let message = format!("{} is not supported", request.method);
                Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
            }),
    }
}

/// Parses the parameters and serializes the result.
fn serve<R: requests::Request>(
    session: &mut Session,
    request: Request,
    act: impl FnOnce(&mut Session, R::Params) -> Answer<R::Result>,
) -> Response {
    let parameters = match serde_json::from_value(request.params) {
        Ok(parameters) => parameters,
        Err(error) => {
            return Response::new_err(request.id, ErrorCode::InvalidParams as i32, error.to_string());
        }
    };
    match act(session, parameters) {
        Ok(result) => Response::new_ok(request.id, result),
        Err(why) => Response::new_err(request.id, ErrorCode::RequestFailed as i32, why),
    }
}

/// Runs a feature at a position; `None` if there is no such document.
pub(crate) fn at_position<T>(
    session: &mut Session,
    position: &TextDocumentPositionParams,
    feature: impl FnOnce(&Cursor<'_>) -> T,
) -> Option<T> {
    let name = uri::name(&position.text_document.uri);
    let (client_state, analysis) = session.analysis(&name)?;
    Some(feature(&Cursor::new(analysis, client_state, &name, position.position)?))
}

/// The completion at a position. While a word is typed, uses the previous analysis, which has the same names.
fn complete(session: &mut Session, position: &TextDocumentPositionParams) -> Option<CompletionList> {
    let name = uri::name(&position.text_document.uri);
    let known = session.previous(&name).and_then(|(client_state, analysis)| {
        let cursor = Cursor::while_typing(analysis, client_state, &name, position.position)?;
        Some(completion::complete(&cursor))
    });
    known.or_else(|| at_position(session, position, completion::complete))
}

/// Runs a feature on a file; `None` if there is no such document.
fn file<T>(
    session: &mut Session,
    document: &TextDocumentIdentifier,
    feature: impl FnOnce(&Analysis, kiln_session::source::FileId) -> T,
) -> Option<T> {
    let name = uri::name(&document.uri);
    let (_, analysis) = session.analysis(&name)?;
    Some(feature(analysis, analysis.file(&name)?))
}

/// The semantic tokens of a document, as a delta if the client still has the previous ones.
fn semantic_tokens(
    session: &mut Session,
    document: &TextDocumentIdentifier,
    previous_id: Option<&str>,
) -> Option<SemanticTokensFullDeltaResult> {
    let all = file(session, document, |analysis, file| tokens::tokens(analysis, file, None))?;
    let shown = session.tokens.entry(uri::name(&document.uri)).or_default();
    Some(shown.replace(all, previous_id))
}

fn references(
    session: &mut Session,
    position: &TextDocumentPositionParams,
    with_declarations: bool,
) -> Vec<Location> {
    match at_position(session, position, references::key).flatten() {
        Some(key) => workspace::references(session, &key, with_declarations),
        None => at_position(session, position, references::builtin_locations).unwrap_or_default(),
    }
}

/// The edits of the formatter, with the style of the document's folder.
fn formatting(
    session: &mut Session,
    document: &TextDocumentIdentifier,
    feature: impl FnOnce(&str, &Style) -> Vec<Edit>,
) -> Option<Vec<TextEdit>> {
    let name = uri::name(&document.uri);
    let document = session.client_state.documents.get(&name)?;
    let lines = Lines::new(&document.text, session.client_state.encoding);
    let edits = feature(&document.text, &formatting::style(&session.client_state, &name));
    let edit = |edit: Edit| TextEdit { range: lines.range(&edit.range), new_text: edit.text };
    Some(edits.into_iter().map(edit).collect())
}
