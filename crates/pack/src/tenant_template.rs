//! Tenants that come ready with a pack: folders as `munshi apply` takes them.

use munshi_types::TenantName;

/// A folder of a tenant, in the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantTemplate {
    /// The folder's name, and the tenant's where nobody chooses another.
    pub name: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
    pub files: &'static [TenantTemplateFile],
}

/// A file of the folder: its path within it, and its text. Make the list with [`ready_files!`](crate::ready_files).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantTemplateFile {
    pub path: &'static str,
    pub text: &'static str,
}

/// Files of a folder, as they are when the program is built. The folder is named as seen from the file that asks:
/// `ready_files!("../tenants/kirana", "humans/meera.md", "policy.toml")`.
#[macro_export]
macro_rules! ready_files {
    ($folder:literal, $($path:literal),* $(,)?) => {
        &[$($crate::TenantTemplateFile { path: $path, text: include_str!(concat!($folder, "/", $path)) }),*]
    };
}

/// What is wrong with it, in a few words.
pub(crate) fn find_problem(tenant: &TenantTemplate) -> Option<String> {
    if tenant.name.parse::<TenantName>().is_err() {
        return Some(format!("`{}` is not a valid tenant name", tenant.name));
    }
    if tenant.files.is_empty() {
        return Some(format!("tenant template {} has no files", tenant.name));
    }
    let bad = tenant.files.iter().find(|file| !is_inside(file.path));
    if let Some(file) = bad {
        return Some(format!("`{}` of tenant template {} points outside its folder", file.path, tenant.name));
    }
    let twice = tenant.files.iter().enumerate().find(|(at, file)| {
        tenant.files.get(..*at).unwrap_or_default().iter().any(|other| other.path == file.path)
    });
    twice.map(|(_, file)| format!("tenant template {} has a duplicate file `{}`", tenant.name, file.path))
}

fn is_inside(path: &str) -> bool {
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', ':', '\0']);
    path.split('/').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stays_within_itself() {
        const GOOD: TenantTemplateFile = TenantTemplateFile { path: "humans/meera.md", text: "" };
        const OUT: TenantTemplateFile = TenantTemplateFile { path: "humans/../../x", text: "" };
        const ROOT: TenantTemplateFile = TenantTemplateFile { path: "/etc/x", text: "" };
        let tenant = |files| TenantTemplate { name: "kirana", about: "", files };
        assert_eq!(find_problem(&tenant(&[GOOD])), None);
        for (files, word) in [
            (&[][..], "no files"),
            (&[OUT], "points outside"),
            (&[ROOT], "points outside"),
            (&[GOOD, GOOD], "duplicate"),
        ] {
            assert!(find_problem(&tenant(files)).unwrap().contains(word), "{files:?}");
        }
        assert!(
            find_problem(&TenantTemplate { name: "Kirana Shop", ..tenant(&[GOOD]) })
                .unwrap()
                .contains("name")
        );
    }
}
