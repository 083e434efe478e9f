//! Shell completion scripts and manual pages, generated from the command line's grammar.

use std::fs;

use clap::CommandFactory as _;

use crate::{
    arguments::{Cli, CompletionsCommand, ManCommand},
    exit::{Failure, Outcome},
    files::write_output,
    paths,
};

pub(crate) fn completions(command: &CompletionsCommand) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut Cli::command(), "kiln", &mut script);
    write_output("-", &script)?;
    Ok(Outcome::Success)
}

pub(crate) fn man(command: &ManCommand) -> Result<Outcome, Failure> {
    let folder = paths::path(&command.folder);
    fs::create_dir_all(&folder)
        .map_err(|error| Failure(format!("cannot create the folder `{}`: {error}", folder.display())))?;
    let mut kiln = Cli::command();
    kiln.build();
    let pages = kiln.get_subcommands().filter(|command| command.get_name() != "help");
    for page in std::iter::once(&kiln).chain(pages) {
        let name = page.get_display_name().unwrap_or_else(|| page.get_name()).replace(' ', "-");
        let mut text = Vec::new();
        // The default names the subcommand as the program.
        let source = concat!("kiln ", env!("CARGO_PKG_VERSION"));
        clap_mangen::Man::new(page.clone()).source(source).render(&mut text)?;
        write_output(&paths::text(folder.join(format!("{name}.1")).as_os_str()), &text)?;
    }
    Ok(Outcome::Success)
}
