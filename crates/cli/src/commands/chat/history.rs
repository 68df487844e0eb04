//! What was typed before: one file a binding in the data folder, for nobody else to read.

use std::fs::{OpenOptions, Permissions};
use std::path::{Path, PathBuf};

use munshi_config::Config;
use munshi_tiers::BindingResolution;
use munshi_wiring::data_folder;
use munshi_wiring::failure::{CommandFailure, Result};

/// The file, made where it is not there yet.
pub(super) fn ensure_file(config: &Config, place: &BindingResolution) -> Result<PathBuf> {
    let home = config.data.dir.join("chat").join(place.tenant_name.as_str());
    let file = home.join(format!("{}.txt", place.binding_name));
    make(&home, &file).map_err(|error| {
        CommandFailure::failed(format!("can't write the input history to {}: {error}", file.display()))
            .hint("check that the data folder is writable")
    })?;
    Ok(file)
}

fn make(home: &Path, file: &Path) -> std::io::Result<()> {
    data_folder::create_private(home)?;
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = options.open(file)?;
    // One that was copied here may be open to others.
    #[cfg(unix)]
    opened.set_permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600))?;
    Ok(())
}
