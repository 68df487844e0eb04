//! `munshi PACK COMMAND …`: commands that packs bring, read by their own description.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use munshi_pack::{
    FromPack, PackArgument, PackArgumentKind, PackArgumentValues, PackCommandCall, PackCommandError,
    PackCommandOutput, PackRegistry, load_tenant_packs,
};
use munshi_types::IdGenerator;
use munshi_wiring::database::ConfiguredDatabase;
use munshi_wiring::failure::{CommandFailure, Result};
use serde_json::Value;

use super::tenant::TenantSelectorArguments;
use crate::context::CommandContext;
use crate::output::CommandOutput;

type Brings = FromPack<dyn munshi_pack::PackCommand>;

/// What can be typed, with the commands of every pack.
pub(crate) fn add_to(own: Command, packs: &PackRegistry) -> Result<Command> {
    let mut all = own;
    for (at, brought) in packs.commands.iter().enumerate() {
        let is_first = !packs.commands.iter().take(at).any(|other| other.pack == brought.pack);
        if is_first && all.find_subcommand(brought.pack).is_some() {
            return Err(CommandFailure::failed(format!(
                "pack {} has the name of a command: rename it",
                brought.pack
            )));
        }
        if is_first {
            let about = format!("Commands of the pack {}", brought.pack);
            all = all.subcommand(
                Command::new(brought.pack)
                    .about(about)
                    .subcommand_required(true)
                    .arg_required_else_help(true),
            );
        }
        let one = build_command(brought.what.as_ref());
        all = all.mut_subcommand(brought.pack, |pack| pack.subcommand(one));
    }
    Ok(all)
}

fn build_command(command: &dyn munshi_pack::PackCommand) -> Command {
    let arguments = command.arguments().iter().map(argument);
    TenantSelectorArguments::augment_args(Command::new(command.name()).about(command.about()).args(arguments))
}

fn argument(argument: &PackArgument) -> Arg {
    let arg = Arg::new(argument.name).help(argument.about);
    match argument.kind {
        PackArgumentKind::Needed => arg.required(true),
        PackArgumentKind::Optional => arg,
        PackArgumentKind::Rest => arg.action(ArgAction::Append).num_args(0..),
        PackArgumentKind::Value => arg.long(argument.name),
        PackArgumentKind::Flag => {
            Arg::new(argument.name).help(argument.about).long(argument.name).action(ArgAction::SetTrue)
        }
    }
}

/// The command of a pack that was typed, and what stood behind it; none where it is one of our own.
pub(crate) fn find_typed_command<'h, 'm>(
    packs: &'h PackRegistry,
    matches: &'m ArgMatches,
) -> Option<(&'h Brings, &'m ArgMatches)> {
    let (pack, of_pack) = matches.subcommand()?;
    let (name, of_command) = of_pack.subcommand()?;
    let command =
        packs.commands.iter().find(|brought| brought.pack == pack && brought.what.name() == name)?;
    Some((command, of_command))
}

pub(crate) fn run(context: &CommandContext, command: &Brings, matches: &ArgMatches) -> Result<()> {
    let of = TenantSelectorArguments::from_arg_matches(matches)
        .map_err(|error| CommandFailure::usage(error.to_string()))?;
    let given = collect_values(command.what.arguments(), matches);
    let database = ConfiguredDatabase::single_connection(&context.config()?)?;
    context.block_on(async {
        let db = database.open().await?;
        let found = of.find_open(&db).await?;
        let tenant = found.id;
        if !db.read(tenant, load_tenant_packs).await?.has(command.pack) {
            let what = format!("Tenant {} does not have the pack {}.", found.name, command.pack);
            return Err(CommandFailure::failed(what).hint("Add it to `packs` in its policy.toml."));
        }
        let (mut out, ids) = (Told(context.output), IdGenerator::system());
        let call =
            PackCommandCall { db: &db, tenant, given: &given, now: context.now(), ids: &ids, out: &mut out };
        command.what.run(call).await.map_err(to_command_failure)
    })
}

fn collect_values(arguments: &[PackArgument], matches: &ArgMatches) -> PackArgumentValues {
    let mut given = PackArgumentValues::default();
    for argument in arguments {
        match argument.kind {
            PackArgumentKind::Flag if matches.get_flag(argument.name) => given.add_flag(argument.name),
            PackArgumentKind::Flag => {}
            _ => {
                let values = matches.get_many::<String>(argument.name).into_iter().flatten();
                values.for_each(|value| given.add(argument.name, value));
            }
        }
    }
    given
}

/// A command's answer, as every other is given.
struct Told(CommandOutput);

impl PackCommandOutput for Told {
    fn print_result(&mut self, value: &Value, words: &str) -> Result<(), PackCommandError> {
        let said = self.0.print_result(value, |_, _| crate::output::sanitize_text(words));
        said.map_err(|failure| PackCommandError { what: failure.message, hint: failure.hint })
    }
}

fn to_command_failure(failed: PackCommandError) -> CommandFailure {
    let failure = CommandFailure::failed(failed.what);
    match failed.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use clap::CommandFactory;
    use munshi_pack::{InvalidPack, Pack, PackInstaller};

    use super::*;

    struct Shelf(&'static str);

    impl Pack for Shelf {
        fn name(&self) -> &'static str {
            self.0
        }

        fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
            room.add_command(Count)
        }
    }

    struct Count;

    #[async_trait]
    impl munshi_pack::PackCommand for Count {
        fn name(&self) -> &'static str {
            "count"
        }

        fn about(&self) -> &'static str {
            "Count what is there"
        }

        fn arguments(&self) -> &'static [PackArgument] {
            &[
                PackArgument { name: "shelf", about: "Which", kind: PackArgumentKind::Needed },
                PackArgument { name: "words", about: "Only these", kind: PackArgumentKind::Rest },
                PackArgument { name: "since", about: "From this day", kind: PackArgumentKind::Value },
                PackArgument { name: "dry", about: "Only say", kind: PackArgumentKind::Flag },
            ]
        }

        async fn run(&self, _: PackCommandCall<'_>) -> Result<(), PackCommandError> {
            Ok(())
        }
    }

    fn house(name: &'static str) -> PackRegistry {
        PackRegistry::install_all(&[Arc::new(Shelf(name))]).unwrap()
    }

    #[test]
    fn a_packs_command_is_typed_as_it_is_described() {
        let packs = house("shelf");
        let all = add_to(crate::arguments::CliArguments::command(), &packs).unwrap();
        all.clone().debug_assert();
        let words = "munshi shelf count top a b --since 2026-11-01 --dry --tenant asha --json";
        let matches = all.clone().try_get_matches_from(words.split(' ')).unwrap();
        let (command, of) = find_typed_command(&packs, &matches).unwrap();
        let given = collect_values(command.what.arguments(), of);
        assert_eq!(
            (given.one("shelf"), given.one("since"), given.has("dry")),
            (Some("top"), Some("2026-11-01"), true)
        );
        assert_eq!(given.all("words"), ["a", "b"]);
        assert!(matches.get_flag("json"), "what every command has stands behind it too");
        for wrong in ["munshi shelf", "munshi shelf count", "munshi shelf count top --more"] {
            assert!(all.clone().try_get_matches_from(wrong.split(' ')).is_err(), "{wrong}");
        }
        let own = all.try_get_matches_from(["munshi", "tenant", "list"]).unwrap();
        assert!(find_typed_command(&packs, &own).is_none());
    }

    #[test]
    fn a_pack_with_the_name_of_a_command_is_refused() {
        let refused = add_to(crate::arguments::CliArguments::command(), &house("jobs")).unwrap_err();
        assert!(refused.message.contains("pack jobs has the name of a command"));
    }
}
