//! Neovim with the configuration from docs/editors.md: opens and edits a file, sends requests, applies fixes. With that from
//! docs/debugging.md: debugs a file.

use std::{fs, process::Command, time::Duration};

use kiln_testsuite::{kiln, markdown, process, root};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(180);

/// Executes steps in Neovim, in a folder with these files, the first of which is open. Returns the result of each step.
fn neovim(files: &[(&str, &str)], steps: &Value) -> Vec<Value> {
    run("neovim.lua", &set_up(), files, steps)
}

/// Executes steps in Neovim with this driver and this configuration.
fn run(driver: &str, set_up: &str, files: &[(&str, &str)], steps: &Value) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    files.iter().for_each(|(name, text)| write(name, text));
    write("init.lua", set_up);
    write("steps.json", &steps.to_string());
    let drivers = root().join("testsuite/tests/editors");
    let binary = kiln::binary();
    let beside = binary.parent().expect("a folder");
    let mut command = Command::new("nvim");
    command.current_dir(folder.path());
    command.args(["--headless", "-i", "NONE", "-n", "-u", "init.lua", files[0].0]);
    command.arg("-c").arg(format!("luafile {}", drivers.join(driver).display())).env("EDITORS", drivers);
    command.env("STEPS", folder.path().join("steps.json")).env("RESULTS", folder.path().join("results.json"));
    command.env("PATH", process::path_with(beside)).env("HOME", folder.path()).env_remove("VIMINIT");
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.env(name, folder.path().join("xdg"));
    }
    let finished = process::finish(&mut command, LIMIT);
    let results = fs::read(folder.path().join("results.json"))
        .unwrap_or_else(|_| panic!("Neovim gave no results:\n{}{}", finished.text(), finished.stderr));
    let results: Vec<Value> = serde_json::from_slice(&results).expect("JSON");
    for (step, result) in steps.as_array().expect("a list").iter().zip(&results) {
        assert!(result["error"].is_null(), "{step}: {}", result["error"]);
    }
    results.into_iter().map(|mut result| result["result"].take()).collect()
}

/// The Neovim configuration from the page on editors, with the lines for Neovim 0.7, which are harmless in later versions.
fn set_up() -> String {
    let page = fs::read_to_string(root().join("docs/editors.md")).expect("the page");
    let [current, older] = markdown::fenced(&page, "lua").try_into().expect("two snippets");
    older + &current
}

const SOURCE: &str = "#include \"size.h\"
kernel void k(global atomic_int *flag, global float4 *out)
{
    out[0].x = SIZE;
    atomic_store_explicit(flag, 1, memory_order_acquire, memory_scope_device);
    out[1] = missing;
}
";

#[test]
fn diagnostics_follow_edits() {
    let results = neovim(
        &[("a.cl", SOURCE), ("size.h", "#define SIZE 4\n")],
        &json!([
            { "do": "diagnostics", "count": 2 },
            { "do": "replace", "from": "missing", "to": "(float4)(SIZE)" },
            { "do": "diagnostics", "count": 1 },
            { "do": "replace", "from": "memory_order_acquire", "to": "memory_order_release" },
            { "do": "diagnostics", "count": 0 },
        ]),
    );
    let messages = results[0].to_string();
    assert!(messages.contains("4: a store cannot have acquire order"), "{messages}");
    assert!(messages.contains("5: `missing` is not declared"), "{messages}");
    assert!(results[2].to_string().contains("4: a store cannot"), "{}", results[2]);
}

#[test]
fn requests_are_answered_and_fixes_applied() {
    let source = "#include \"size.h\"
struct particle { float mass; float3 place; };
int twice(int number) { return 2 * number; }
kernel void k(global atomic_int *flag, global struct particle *all, global float4 *out)
{
    size_t i = get_globl_id(0);
    out[i] = twice(SIZE);
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    float4 v = out[i];
}
";
    let results = neovim(
        &[("a.cl", source), ("size.h", "#define SIZE 4\n")],
        &json!([
            { "do": "diagnostics", "count": 1 },
            { "do": "fix", "at": "get_globl_id", "title": "get_global_id" },
            { "do": "diagnostics", "count": 0 },
            { "do": "hover", "at": "get_global_id" },
            { "do": "hover", "at": "atomic_store_explicit" },
            { "do": "definition", "at": "twice(SIZE)" },
            { "do": "definition", "at": "SIZE)" },
            { "do": "rename", "at": "twice(int", "to": "doubled" },
            { "do": "diagnostics", "count": 0 },
            { "do": "replace", "from": "float4 v = out[i];", "to": "float4 v = out[i]; v." },
            { "do": "complete", "behind": "; v.", "prefix": "" },
            { "do": "replace", "from": "v = out[i]; v.", "to": "v = out[i]; all->" },
            { "do": "complete", "behind": "all->", "prefix": "" },
            { "do": "replace", "from": "memory_order_release", "to": "memory_order_" },
            { "do": "complete", "behind": "memory_order_", "prefix": "memory_order_" },
            { "do": "replace", "from": "out[i]; all->", "to": "out[i]; get_loc" },
            { "do": "complete", "behind": "get_loc", "prefix": "get_loc" },
        ]),
    );
    let has = |index: usize, words: &[&str]| {
        let text = results[index].to_string();
        words.iter().for_each(|word| assert!(text.contains(word), "no `{word}` in {text}"));
    };
    has(1, &["size_t i = get_global_id(0);"]);
    has(3, &["get_global_id", "work-item"]);
    has(4, &["Orders: relaxed, release, seq_cst", "work_group"]);
    assert_eq!(results[5], json!(["a.cl", 2]));
    assert_eq!(results[6], json!(["size.h", 0]));
    has(7, &["int doubled(int number)", "out[i] = doubled(SIZE);"]);
    let words = |index: usize| -> Vec<&str> {
        results[index].as_array().expect("a list").iter().filter_map(Value::as_str).collect()
    };
    for (index, wanted) in [
        (10, &["x", "y", "xyz", "s0", "lo"][..]),
        (12, &["mass", "place"]),
        (14, &["memory_order_relaxed", "memory_order_release", "memory_order_seq_cst"]),
        (16, &["get_local_id", "get_local_size"]),
    ] {
        for word in wanted {
            assert!(
                words(index).iter().any(|offered| offered.starts_with(word)),
                "no `{word}` in {:?}",
                words(index)
            );
        }
    }
    // A store cannot have acquire order: illegal orders are listed after legal ones.
    let rank = |word: &str| words(14).iter().position(|offered| *offered == word);
    assert!(
        rank("memory_order_acquire").is_none_or(|last| rank("memory_order_release") < Some(last)),
        "{:?}",
        words(14)
    );
}

#[test]
#[ignore = "needs NVIM_DAP, the folder of nvim-dap, which is in no package registry"]
fn nvim_dap_debugs_the_launches_of_a_source() {
    let source = "// kiln run --kernel k --global 4 --local 4 --arg buf:int[4]
//     then --kernel race --global 4 --local 4 --arg out
int doubled(int x) {
    int result = x * 2;
    return result;
}

kernel void k(global int *out) {
    int i = get_global_id(0);
    int value = doubled(i);
    out[i] = value + 1;
}

kernel void race(global int *out) {
    out[0] = get_local_id(0);
}
";
    let page = fs::read_to_string(root().join("docs/debugging.md")).expect("the page");
    let [adapter] = markdown::fenced(&page, "lua").try_into().expect("one snippet");
    let set_up = format!("vim.opt.runtimepath:prepend(vim.env.NVIM_DAP)\n{}{adapter}", set_up());
    let steps = json!([
        { "do": "continue", "line": 10, "condition": "i == 2" },
        { "do": "step_into" },
        { "do": "step_over" },
        { "do": "step_out" },
        { "do": "step_over" },
        { "do": "step_back" },
        { "do": "continue" },
        { "do": "continue" },
    ]);
    let results = run("nvim_dap.lua", &set_up, &[("k.cl", source)], &steps);
    let stops: Vec<Value> = results.iter().map(|it| json!([it["reason"], it["name"], it["line"]])).collect();
    assert_eq!(
        stops,
        [
            json!(["breakpoint", "k", 10]),
            json!(["step", "doubled", 4]),
            json!(["step", "doubled", 5]),
            json!(["step", "k", 10]),
            json!(["step", "k", 11]),
            json!(["step", "k", 10]),
            json!(["exception", "race", 15]),
            json!(["end", null, null]),
        ]
    );
    let variable = |stop: usize, name: &str| results[stop]["variables"][name].clone();
    assert_eq!(
        [variable(0, "i"), variable(1, "x"), variable(2, "result"), variable(4, "value")],
        ["2", "2", "4", "4"]
    );
    assert_eq!(variable(5, "value"), "uninitialized");
    assert!(results[6]["text"].to_string().contains("[data-race]"), "{}", results[6]);
}
