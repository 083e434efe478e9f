//! Requests for the hierarchies of calls and types, and for implementations.

use lsp_server::{Request, Response};
use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, GotoDefinitionResponse, Location, Range,
    TextDocumentIdentifier, TextDocumentPositionParams, TypeHierarchyItem, Uri,
    request::{self as requests, Request as _},
};

use super::{at_position, serve};
use crate::{
    features::{calls, definition, references, types},
    session::Session,
    workspace,
};

/// Answers a request; `Err` returns a request that is not in this file.
pub(super) fn answer(session: &mut Session, request: Request) -> Result<Response, Request> {
    Ok(match request.method.as_str() {
        requests::CallHierarchyPrepare::METHOD => {
            serve::<requests::CallHierarchyPrepare>(session, request, |session, it| {
                let found = at_position(session, &it.text_document_position_params, calls::prepare).flatten();
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
                let item = position(&it.item.uri, it.item.selection_range);
                Ok(at_position(session, &item, calls::outgoing))
            })
        }
        requests::TypeHierarchyPrepare::METHOD => {
            serve::<requests::TypeHierarchyPrepare>(session, request, |session, it| {
                let found = at_position(session, &it.text_document_position_params, types::prepare).flatten();
                Ok(found.map(|item| vec![item]))
            })
        }
        requests::TypeHierarchySupertypes::METHOD => {
            serve::<requests::TypeHierarchySupertypes>(session, request, |session, it| {
                let item = position(&it.item.uri, it.item.selection_range);
                Ok(at_position(session, &item, types::supertypes))
            })
        }
        requests::TypeHierarchySubtypes::METHOD => {
            serve::<requests::TypeHierarchySubtypes>(session, request, |session, it| {
                Ok(Some(subtypes(session, &it.item)))
            })
        }
        requests::GotoImplementation::METHOD => {
            serve::<requests::GotoImplementation>(session, request, |session, it| {
                let found = implementations(session, &it.text_document_position_params);
                Ok(Some(GotoDefinitionResponse::Array(found)))
            })
        }
        _ => return Err(request),
    })
}

/// The position of an item of a hierarchy.
fn position(uri: &Uri, name: Range) -> TextDocumentPositionParams {
    TextDocumentPositionParams {
        text_document: TextDocumentIdentifier { uri: uri.clone() },
        position: name.start,
    }
}

/// The callers of a function, in all sources that see its declaration.
fn incoming(session: &mut Session, item: &CallHierarchyItem) -> Vec<CallHierarchyIncomingCall> {
    let mut found = Vec::new();
    if let Some(key) =
        at_position(session, &position(&item.uri, item.selection_range), references::key).flatten()
    {
        workspace::visit_entity(session, &key, &mut |analysis, entity| {
            calls::incoming(analysis, entity, &mut found)
        });
    }
    found
}

/// The types that contain or name a type, in all sources that see its declaration.
fn subtypes(session: &mut Session, item: &TypeHierarchyItem) -> Vec<TypeHierarchyItem> {
    let mut found = Vec::new();
    if let Some(key) =
        at_position(session, &position(&item.uri, item.selection_range), references::key).flatten()
    {
        workspace::visit_entity(session, &key, &mut |analysis, entity| {
            types::subtypes(analysis, entity, &mut found)
        });
    }
    found
}

/// The definitions of the entity at a position, in all sources that see its declaration.
fn implementations(session: &mut Session, position: &TextDocumentPositionParams) -> Vec<Location> {
    let mut found: Vec<Location> = Vec::new();
    if let Some(key) = at_position(session, position, references::key).flatten() {
        workspace::visit_entity(session, &key, &mut |analysis, entity| {
            for location in definition::definitions(analysis, entity) {
                if !found.contains(&location) {
                    found.push(location);
                }
            }
        });
    }
    found
}
