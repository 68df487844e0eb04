//! A tenant that comes in the binary, made in this installation.

use munshi_config::Config;
use munshi_pack::TenantTemplate;
use munshi_tiers::{Authorship, VanishedTierPolicy, files};
use munshi_types::{IdGenerator, TenantName, Timestamp, Zone};

use crate::apply_plans::apply_plans;
use crate::database::ConfiguredDatabase;
use crate::failure::{CommandFailure, Result};
use crate::installation::list_installed_names;
use crate::{data_folder, policy};

/// Makes the tables where there are none, and the tenant.
pub async fn apply_template(config: &Config, ready: &TenantTemplate, now: Timestamp) -> Result<TenantName> {
    let unusable =
        |what: &str, error: &dyn std::fmt::Display| CommandFailure::failed(format!("{what}: {error}"));
    let tenant: TenantName =
        ready.name.parse().map_err(|error| unusable("invalid name of the tenant template", &error))?;
    data_folder::prepare(config)?;
    let database = ConfiguredDatabase::from_config(config)?;
    database.migrate(now).await?;
    let db = database.open().await?;
    // The files are read as any folder's are, so they stand in one for a moment.
    let ids = IdGenerator::system();
    let place = config.data.dir.join(format!("ready-{}", ids.next::<munshi_types::RunId>()));
    let home = place.join(ready.name);
    let read = write(ready, &home).map_err(|error| unusable("can't write the template files", &error));
    let read = read.and_then(|()| {
        Ok(files::read_with_extensions(&home, None, &policy::build_folder_extensions(config)?)?)
    });
    let removed = std::fs::remove_dir_all(&place);
    let folders = read?;
    removed.map_err(|error| unusable("can't remove the template files", &error))?;
    let plans =
        munshi_tiers::plan_folders(&db, &folders, VanishedTierPolicy::Keep, &list_installed_names(config)?)
            .await?;
    let note = format!("the ready tenant {}", ready.name);
    let by = Authorship { author: "munshi".to_owned(), note, made_at: now };
    apply_plans::<CommandFailure>(&db, plans, Zone::default(), by, &ids).await?;
    Ok(tenant)
}

/// The files, as a folder that can be read.
pub fn write(ready: &TenantTemplate, home: &std::path::Path) -> std::io::Result<()> {
    for file in ready.files {
        let path = home.join(file.path);
        if let Some(parent) = path.parent() {
            data_folder::create_private(parent)?;
        }
        std::fs::write(path, file.text)?;
    }
    Ok(())
}
