//! `munshi PACK COMMAND …`: commands that packs bring, read by their own description.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use munshi_pack::{Argument, ArgumentKind, Brought, Call, CommandFailed, Given, House, Sink};
use munshi_types::Ids;
use serde_json::Value;

use super::tenant::Of;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::wiring::database::Database;

type Brings = Brought<dyn munshi_pack::Command>;

/// What can be typed, with the commands of every pack.
pub(crate) fn add_to(own: Command, house: &House) -> Result<Command> {
    let mut all = own;
    for (at, brought) in house.commands.iter().enumerate() {
        let is_first = !house.commands.iter().take(at).any(|other| other.pack == brought.pack);
        if is_first && all.find_subcommand(brought.pack).is_some() {
            return Err(Failure::failed(format!(
                "the pack {} has the name of a command: rename it",
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
        let one = described(brought.what.as_ref());
        all = all.mut_subcommand(brought.pack, |pack| pack.subcommand(one));
    }
    Ok(all)
}

fn described(command: &dyn munshi_pack::Command) -> Command {
    let arguments = command.arguments().iter().map(argument);
    Of::augment_args(Command::new(command.name()).about(command.about()).args(arguments))
}

fn argument(argument: &Argument) -> Arg {
    let arg = Arg::new(argument.name).help(argument.about);
    match argument.kind {
        ArgumentKind::Needed => arg.required(true),
        ArgumentKind::Optional => arg,
        ArgumentKind::Rest => arg.action(ArgAction::Append).num_args(0..),
        ArgumentKind::Value => arg.long(argument.name),
        ArgumentKind::Flag => {
            Arg::new(argument.name).help(argument.about).long(argument.name).action(ArgAction::SetTrue)
        }
    }
}

/// The command of a pack that was typed, and what stood behind it; none where it is one of our own.
pub(crate) fn typed<'h, 'm>(
    house: &'h House,
    matches: &'m ArgMatches,
) -> Option<(&'h Brings, &'m ArgMatches)> {
    let (pack, of_pack) = matches.subcommand()?;
    let (name, of_command) = of_pack.subcommand()?;
    let command =
        house.commands.iter().find(|brought| brought.pack == pack && brought.what.name() == name)?;
    Some((command, of_command))
}

pub(crate) fn run(context: &Context, command: &Brings, matches: &ArgMatches) -> Result<()> {
    let of = Of::from_arg_matches(matches).map_err(|error| Failure::usage(error.to_string()))?;
    let given = given(command.what.arguments(), matches);
    let database = Database::for_one_question(&context.config()?)?;
    context.block_on(async {
        let db = database.open().await?;
        let tenant = of.find_open(&db).await?.id;
        let (mut out, ids) = (Told(context.output), Ids::system());
        let call = Call { db: &db, tenant, given: &given, now: context.now(), ids: &ids, out: &mut out };
        command.what.run(call).await.map_err(failed)
    })
}

fn given(arguments: &[Argument], matches: &ArgMatches) -> Given {
    let mut given = Given::default();
    for argument in arguments {
        match argument.kind {
            ArgumentKind::Flag if matches.get_flag(argument.name) => given.mark(argument.name),
            ArgumentKind::Flag => {}
            _ => {
                let values = matches.get_many::<String>(argument.name).into_iter().flatten();
                values.for_each(|value| given.add(argument.name, value));
            }
        }
    }
    given
}

/// A command's answer, as every other is given.
struct Told(Output);

impl Sink for Told {
    fn answer(&mut self, value: &Value, words: &str) -> Result<(), CommandFailed> {
        let said = self.0.answer(value, |_, _| crate::output::without_commands(words));
        said.map_err(|failure| CommandFailed { what: failure.message, hint: failure.hint })
    }
}

fn failed(failed: CommandFailed) -> Failure {
    let failure = Failure::failed(failed.what);
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
    use munshi_pack::{BadPack, Pack, Room};

    use super::*;

    struct Shelf(&'static str);

    impl Pack for Shelf {
        fn name(&self) -> &'static str {
            self.0
        }

        fn install(&self, room: &mut Room<'_>) -> Result<(), BadPack> {
            room.command(Count)
        }
    }

    struct Count;

    #[async_trait]
    impl munshi_pack::Command for Count {
        fn name(&self) -> &'static str {
            "count"
        }

        fn about(&self) -> &'static str {
            "Count what is there"
        }

        fn arguments(&self) -> &'static [Argument] {
            &[
                Argument { name: "shelf", about: "Which", kind: ArgumentKind::Needed },
                Argument { name: "words", about: "Only these", kind: ArgumentKind::Rest },
                Argument { name: "since", about: "From this day", kind: ArgumentKind::Value },
                Argument { name: "dry", about: "Only say", kind: ArgumentKind::Flag },
            ]
        }

        async fn run(&self, _: Call<'_>) -> Result<(), CommandFailed> {
            Ok(())
        }
    }

    fn house(name: &'static str) -> House {
        House::install_all(&[Arc::new(Shelf(name))]).unwrap()
    }

    #[test]
    fn a_packs_command_is_typed_as_it_is_described() {
        let house = house("shelf");
        let all = add_to(crate::arguments::Arguments::command(), &house).unwrap();
        all.clone().debug_assert();
        let words = "munshi shelf count top a b --since 2026-11-01 --dry --tenant asha --json";
        let matches = all.clone().try_get_matches_from(words.split(' ')).unwrap();
        let (command, of) = typed(&house, &matches).unwrap();
        let given = given(command.what.arguments(), of);
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
        assert!(typed(&house, &own).is_none());
    }

    #[test]
    fn a_pack_with_the_name_of_a_command_is_refused() {
        let refused = add_to(crate::arguments::Arguments::command(), &house("jobs")).unwrap_err();
        assert!(refused.message.contains("the pack jobs has the name of a command"));
    }
}
