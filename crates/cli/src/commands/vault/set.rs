//! `munshi vault set NAME`

use std::io::{IsTerminal, Read, Write};

use clap::Args;
use munshi_operations::vault::{SecretText, SetSecret, SetSecretInput};
use munshi_safety::vault::SecretRef;
use munshi_wiring::failure::{CommandFailure, Result};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::{OperatorArguments, TenantScopeArguments, parse_name};
use crate::context::CommandContext;
use crate::operation_client::OperationTarget;

/// More than any secret has.
const LARGEST: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(crate) struct VaultSetArguments {
    /// Name, such as razorpay.key; refer to it as vault:razorpay.key
    #[arg(value_parser = parse_name)]
    name: SecretRef,
    #[command(flatten)]
    whose: TenantScopeArguments,
    #[command(flatten)]
    operator: OperatorArguments,
}

pub(super) fn run(context: &CommandContext, arguments: &VaultSetArguments) -> Result<()> {
    let value = SecretText::new(read(context)?);
    let input = SetSecretInput { name: arguments.name.name().to_owned(), value };
    let of = arguments.whose.selector();
    let target = OperationTarget { of: &of, operator: Some(&arguments.operator) };
    let kept = context.run_operation::<SetSecret>(&target, &input)?;
    context.output.print_result(&kept, |kept, _| {
        format!("Stored {} (version {}). Refer to it as {}.", kept.name, kept.version, kept.reference)
    })
}

/// From standard input, without the end of its line; at a terminal it is asked for and not shown.
fn read(context: &CommandContext) -> Result<Zeroizing<String>> {
    let failed = |error: std::io::Error| CommandFailure::failed(format!("can't read the secret: {error}"));
    let stdin = std::io::stdin();
    let mut bytes = Zeroizing::new(Vec::new());
    if stdin.is_terminal() {
        context
            .output
            .print_note(|_| "Type or paste the secret and press Enter; it is not shown.".to_owned());
        let _silence = Silence::begin().map_err(failed)?;
        let mut line = Zeroizing::new(String::new());
        stdin.read_line(&mut line).map_err(failed)?;
        bytes.extend_from_slice(line.as_bytes());
    } else {
        stdin.lock().take(LARGEST).read_to_end(&mut bytes).map_err(failed)?;
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        CommandFailure::usage("the secret is not valid UTF-8").hint("encode it, for example with base64")
    })?;
    Ok(Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// The terminal shows nothing of what is typed until this goes.
struct Silence(Termios);

impl Silence {
    fn begin() -> std::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &silent)?;
        Ok(Self(before))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // A terminal that has gone away needs nothing put right.
        let _gone = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
        let _closed = writeln!(std::io::stderr());
    }
}
