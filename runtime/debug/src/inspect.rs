//! Answers requests about a launch that is stopped: threads, calls, variables, expressions.
//!
//! Owns the numbers of calls and variables, which are valid until the launch continues.

use std::sync::Arc;

use kiln_reference::{ItemId, Report, StoppedLaunch, WorkItem};
use kiln_vocabulary::debug::Variables;
use serde_json::{Value as Json, json};

use crate::{
    breakpoints::Owner,
    debugger::State,
    expression,
    protocol::Request,
    scope::{self, SCOPES, Scope},
    value::{Reader, Slice, Value},
};

/// The maximum number of work-items in the list of threads.
const MAX_THREADS: usize = 1024;
/// The bits of a thread's number that are the index of its work-item in its group.
const INDEX_BITS: u32 = 16;

/// The number of a work-item's thread.
pub(crate) fn thread(id: ItemId) -> u64 {
    (u64::from(id.group) << INDEX_BITS | u64::from(id.index)) + 1
}

/// The work-item of a thread.
pub(crate) fn item(thread: &Json) -> Option<ItemId> {
    let number = thread.as_u64()?.checked_sub(1)?;
    let index = number as u32 & ((1 << INDEX_BITS) - 1);
    Some(ItemId { group: u32::try_from(number >> INDEX_BITS).ok()?, index })
}

/// The referent of a number in a request.
#[derive(Clone, Debug)]
enum Handle {
    Scope(ItemId, usize, Scope),
    Value(ItemId, usize, Value),
}

/// Values with their names.
type Parts = Vec<(String, Value)>;

/// The numbers passed to the client since the launch stopped.
pub(crate) struct Inspection {
    variables: Arc<Variables>,
    frames: Vec<(ItemId, usize)>,
    handles: Vec<Handle>,
}

impl Inspection {
    pub(crate) fn new(variables: Arc<Variables>) -> Self {
        Self { variables, frames: Vec::new(), handles: Vec::new() }
    }

    /// Answers a request.
    pub(crate) fn answer(
        &mut self,
        request: &Request,
        stopped: &mut StoppedLaunch<'_, '_>,
        at: ItemId,
        state: &State,
    ) -> Result<Json, String> {
        let arguments = &request.arguments;
        match request.command.as_str() {
            "threads" => Ok(threads(stopped, at)),
            "stackTrace" => self.stack(arguments, stopped, state),
            "scopes" => self.scopes(arguments),
            "variables" => self.list(arguments, stopped),
            "evaluate" => self.evaluate(arguments, stopped, at),
            "setVariable" => self.set_variable(arguments, stopped),
            "setExpression" => self.set_expression(arguments, stopped, at),
            "dataBreakpointInfo" => self.data_breakpoint_info(arguments, stopped, at),
            other => Err(format!("`{other}` is not supported")),
        }
    }

    fn stack(
        &mut self,
        arguments: &Json,
        stopped: &StoppedLaunch<'_, '_>,
        state: &State,
    ) -> Result<Json, String> {
        let id = item(&arguments["threadId"]).ok_or("`threadId` is missing")?;
        let item = stopped.item(id).ok_or("this work-item has returned")?;
        let first = arguments["startFrame"].as_u64().unwrap_or(0) as usize;
        let count = arguments["levels"].as_u64().filter(|levels| *levels > 0).unwrap_or(u64::MAX);
        let mut frames = Vec::new();
        for distance in (first..item.depth()).take(usize::try_from(count).unwrap_or(usize::MAX)) {
            let Some(frame) = item.frame(distance) else { break };
            self.frames.push((id, distance));
            let mut entry = json!({
                "id": self.frames.len(),
                "name": if frame.function.is_empty() { "(function)" } else { frame.function },
                "line": frame.line,
                "column": 0,
            });
            if frame.line == 0 {
                entry["presentationHint"] = json!("subtle");
            } else {
                let path = state.lines.path(frame.file);
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                entry["source"] = json!({ "name": name, "path": path.to_string_lossy() });
            }
            frames.push(entry);
        }
        Ok(json!({ "stackFrames": frames, "totalFrames": item.depth() }))
    }

    fn frame(&self, arguments: &Json) -> Option<(ItemId, usize)> {
        let number = arguments["frameId"].as_u64()?.checked_sub(1)?;
        self.frames.get(usize::try_from(number).ok()?).copied()
    }

    fn scopes(&mut self, arguments: &Json) -> Result<Json, String> {
        let (item, distance) = self.frame(arguments).ok_or("there is no such call")?;
        let scopes = SCOPES.map(|(scope, name)| {
            let reference = self.add_handle(Handle::Scope(item, distance, scope));
            json!({ "name": name, "variablesReference": reference, "expensive": false })
        });
        Ok(json!({ "scopes": scopes }))
    }

    fn add_handle(&mut self, handle: Handle) -> usize {
        self.handles.push(handle);
        self.handles.len()
    }

    fn lookup_handle(&self, reference: &Json) -> Result<Handle, String> {
        let number = reference.as_u64().and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
        let handle = number.and_then(|number| self.handles.get(number));
        handle.cloned().ok_or_else(|| "there are no such variables".to_owned())
    }

    /// The variables of a scope, or the parts of a value.
    fn parts(
        &self,
        arguments: &Json,
        slice: Slice,
        stopped: &StoppedLaunch<'_, '_>,
    ) -> Result<(ItemId, usize, Parts), String> {
        let (id, distance, of) = match self.lookup_handle(&arguments["variablesReference"])? {
            Handle::Scope(id, distance, scope) => (id, distance, Err(scope)),
            Handle::Value(id, distance, value) => (id, distance, Ok(value)),
        };
        let item = stopped.item(id).ok_or("this work-item has returned")?;
        let reader = Reader { item, variables: &self.variables };
        let parts = match of {
            Ok(value) => reader.parts(&value, slice),
            Err(scope) => scope::list(scope, item, distance, &self.variables),
        };
        Ok((id, distance, parts))
    }

    fn list(&mut self, arguments: &Json, stopped: &StoppedLaunch<'_, '_>) -> Result<Json, String> {
        let slice = Slice {
            start: arguments["start"].as_u64().unwrap_or(0),
            count: arguments["count"].as_u64().unwrap_or(0),
        };
        let (id, distance, parts) = self.parts(arguments, slice, stopped)?;
        let mut entries = Vec::new();
        for (name, value) in parts {
            let mut entry = self.shown(id, distance, &value, stopped)?;
            entry["name"] = json!(name);
            entry["value"] = entry["result"].take();
            entries.push(entry);
        }
        Ok(json!({ "variables": entries }))
    }

    /// The text, the type and the parts of a value.
    fn shown(
        &mut self,
        id: ItemId,
        distance: usize,
        value: &Value,
        stopped: &StoppedLaunch<'_, '_>,
    ) -> Result<Json, String> {
        let item = stopped.item(id).ok_or("this work-item has returned")?;
        let variables = self.variables.clone();
        let reader = Reader { item, variables: &variables };
        let count = reader.count(value);
        let reference = match count {
            0 => 0,
            _ => self.add_handle(Handle::Value(id, distance, value.clone())),
        };
        let mut entry = json!({
            "result": reader.text(value),
            "type": reader.type_of(value),
            "variablesReference": reference,
        });
        if count > 0 {
            let kind = if reader.is_indexed(value) { "indexedVariables" } else { "namedVariables" };
            entry[kind] = json!(count);
        }
        Ok(entry)
    }

    /// The work-item and the call of an expression.
    fn item_and_frame(&self, arguments: &Json, at: ItemId) -> (ItemId, usize) {
        self.frame(arguments).unwrap_or((at, 0))
    }

    fn evaluate(
        &mut self,
        arguments: &Json,
        stopped: &StoppedLaunch<'_, '_>,
        at: ItemId,
    ) -> Result<Json, String> {
        let (id, distance) = self.item_and_frame(arguments, at);
        let text = arguments["expression"].as_str().unwrap_or_default().trim();
        let item = stopped.item(id).ok_or("this work-item has returned")?;
        if let Some(inner) = text.strip_prefix("last_write(").and_then(|rest| rest.strip_suffix(')')) {
            let value = self.value(inner, item, distance)?;
            return Ok(json!({ "result": last_write(&value, item, stopped)?, "variablesReference": 0 }));
        }
        let value = self.value(text, item, distance)?;
        self.shown(id, distance, &value, stopped)
    }

    fn value(&self, text: &str, item: WorkItem<'_>, distance: usize) -> Result<Value, String> {
        let expr = expression::parse(text)?;
        scope::evaluate(&expr, item, distance, &self.variables)
    }

    fn set_variable(
        &mut self,
        arguments: &Json,
        stopped: &mut StoppedLaunch<'_, '_>,
    ) -> Result<Json, String> {
        let name = arguments["name"].as_str().unwrap_or_default();
        let (id, distance, parts) = self.parts(arguments, Slice::default(), stopped)?;
        let target = parts.into_iter().find(|(known, _)| known == name);
        let (_, target) = target.ok_or_else(|| format!("there is no `{name}`"))?;
        self.set(id, distance, &target, arguments, stopped)
    }

    fn set_expression(
        &mut self,
        arguments: &Json,
        stopped: &mut StoppedLaunch<'_, '_>,
        at: ItemId,
    ) -> Result<Json, String> {
        let (id, distance) = self.item_and_frame(arguments, at);
        let item = stopped.item(id).ok_or("this work-item has returned")?;
        let target = self.value(arguments["expression"].as_str().unwrap_or_default(), item, distance)?;
        self.set(id, distance, &target, arguments, stopped)
    }

    fn set(
        &mut self,
        id: ItemId,
        distance: usize,
        target: &Value,
        arguments: &Json,
        stopped: &mut StoppedLaunch<'_, '_>,
    ) -> Result<Json, String> {
        let (ty, address) = expression::target(target).ok_or("this cannot be set")?;
        let bytes = {
            let item = stopped.item(id).ok_or("this work-item has returned")?;
            let reader = Reader { item, variables: &self.variables };
            let value = self.value(arguments["value"].as_str().unwrap_or_default(), item, distance)?;
            reader.encoded(ty, &reader.loaded(value)?)?
        };
        if !stopped.write(id, address, &bytes) {
            return Err("it is not in memory".to_owned());
        }
        let mut entry = self.shown(id, distance, target, stopped)?;
        entry["value"] = entry["result"].take();
        Ok(entry)
    }

    /// Whether a variable supports data breakpoints. The id encodes everything that the breakpoint needs.
    fn data_breakpoint_info(
        &mut self,
        arguments: &Json,
        stopped: &StoppedLaunch<'_, '_>,
        at: ItemId,
    ) -> Result<Json, String> {
        let name = arguments["name"].as_str().unwrap_or_default();
        let (id, value) = if arguments["variablesReference"].as_u64().unwrap_or(0) > 0 {
            let (id, _, parts) = self.parts(arguments, Slice::default(), stopped)?;
            (id, parts.into_iter().find(|(known, _)| known == name).map(|(_, value)| value))
        } else {
            let (id, distance) = self.item_and_frame(arguments, at);
            let item = stopped.item(id).ok_or("this work-item has returned")?;
            (id, self.value(name, item, distance).ok())
        };
        let item = stopped.item(id).ok_or("this work-item has returned")?;
        let reader = Reader { item, variables: &self.variables };
        let found = value.as_ref().and_then(expression::target);
        let Some((ty, address)) = found.filter(|(_, address)| item.bytes_to_end(*address).is_some()) else {
            return Ok(json!({ "dataId": null, "description": format!("`{name}` is not in memory") }));
        };
        let owner = match item.memory_of(address) {
            Some(kiln_reference::MemoryOf::Item) => format!("item {} {}", id.group, id.index),
            Some(kiln_reference::MemoryOf::Group) => format!("group {}", id.group),
            _ => "launch".to_owned(),
        };
        let data = format!("{address} {} {owner} {name}", reader.size(ty));
        Ok(json!({ "dataId": data, "description": name, "accessTypes": ["write"], "canPersist": false }))
    }
}

/// Reads the id that `dataBreakpointInfo` has returned: address, size, owner and name.
pub(crate) fn watched(data: &str) -> Option<(u64, u64, Owner, String)> {
    let mut words = data.split(' ');
    let (address, size) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let owner = match words.next()? {
        "launch" => Owner::Launch,
        "group" => Owner::Group(words.next()?.parse().ok()?),
        "item" => {
            Owner::Item(ItemId { group: words.next()?.parse().ok()?, index: words.next()?.parse().ok()? })
        }
        _ => return None,
    };
    Some((address, size, owner, words.collect::<Vec<_>>().join(" ")))
}

/// The work-items that have started, the stopped one first.
fn threads(stopped: &StoppedLaunch<'_, '_>, at: ItemId) -> Json {
    let mut items = stopped.items();
    items.sort_by_key(|item| (item.id() != at, item.id()));
    let names = items.iter().take(MAX_THREADS).map(|item| {
        let [x, y, z] = item.global_id();
        let [a, b, c] = item.group_id();
        let waits = if item.is_waiting() { ", waiting" } else { "" };
        let name = format!("work-item ({x}, {y}, {z}) of group ({a}, {b}, {c}){waits}");
        json!({ "id": thread(item.id()), "name": name })
    });
    json!({ "threads": names.collect::<Vec<_>>() })
}

/// The last writer of a value in global or local memory, and the location of the write.
fn last_write(value: &Value, item: WorkItem<'_>, stopped: &StoppedLaunch<'_, '_>) -> Result<String, String> {
    let (_, address) = expression::target(value).ok_or("this is not in memory")?;
    let writes = item.last_writes(address).into_iter().map(|write| {
        let who = match write.item {
            None => "an asynchronous copy".to_owned(),
            Some(id) => match stopped.item(id) {
                Some(item) => {
                    let [x, y, z] = item.global_id();
                    format!("work-item ({x}, {y}, {z})")
                }
                None => format!("work-item {} of group {}, which has returned", id.index, id.group),
            },
        };
        let position = write.position.map_or(String::new(), |(file, line)| format!(" at {file}:{line}"));
        format!("{who}{position}")
    });
    let writes: Vec<String> = writes.collect();
    Ok(if writes.is_empty() { "no work-item of this launch".to_owned() } else { writes.join("; ") })
}

/// Describes the undefined behavior that ended a launch.
pub(crate) fn exception(report: Option<&Report>) -> Result<Json, String> {
    let report = report.ok_or("the launch has no undefined behavior so far")?;
    Ok(json!({
        "exceptionId": report.kind,
        "description": report.message,
        "breakMode": "always",
        "details": { "message": report.to_string() },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_numbers_of_work_items() {
        let id = ItemId { group: 70_000, index: 255 };
        assert_eq!(item(&json!(thread(id))), Some(id));
        assert_eq!(item(&json!(0)), None);
    }

    #[test]
    fn watched_memory_survives_as_text() {
        let owner = Owner::Item(ItemId { group: 2, index: 3 });
        assert_eq!(watched("4096 8 item 2 3 s.a[1]"), Some((4096, 8, owner, "s.a[1]".to_owned())));
        assert_eq!(watched("4096 8 launch out[1]"), Some((4096, 8, Owner::Launch, "out[1]".to_owned())));
        assert_eq!(watched("x"), None);
    }
}
