//! Where the files of a command are: the program, what interprets it, and what is installed beside them.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::symlinks;

/// What a program's arguments name as code, by how its name ends.
const SCRIPTS: &[&str] = &["cjs", "jar", "js", "lua", "mjs", "php", "pl", "py", "pyz", "rb", "sh", "ts"];
/// Variables that lead to code and certificates.
const PATHS: &[&str] = &[
    "GEM_PATH",
    "NODE_EXTRA_CA_CERTS",
    "NODE_PATH",
    "PERL5LIB",
    "PYTHONHOME",
    "PYTHONPATH",
    "REQUESTS_CA_BUNDLE",
    "RUBYLIB",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];
/// Of an installation's prefix (`/opt/node`, a virtual environment, `~/.local`), what is code.
const INSTALLED: &[&str] = &["bin", "lib", "lib64", "libexec", "pyvenv.cfg", "sbin", "ssl"];
/// A script that is run by a script that is run by a script.
const DEEPEST: usize = 4;
const LONGEST_LINE: u64 = 512;

/// How a command is looked for.
pub(super) struct CommandSearch<'a> {
    pub(super) environment: &'a [(OsString, OsString)],
    pub(super) folder: &'a Path,
    /// What the child itself may write: nothing found there says what else it may read.
    pub(super) writes: &'a [PathBuf],
}

impl CommandSearch<'_> {
    /// The program as a shell would find it.
    pub(super) fn find(&self, program: &OsStr) -> Option<PathBuf> {
        if program.as_bytes().contains(&b'/') {
            return Some(self.folder.join(program)).filter(|path| is_program(path));
        }
        let path = self.variable("PATH")?;
        std::env::split_paths(path)
            .map(|entry| self.folder.join(entry).join(program))
            .find(|path| is_program(path))
    }

    /// Everything that belongs to the command, where it really is.
    pub(super) fn collect_roots(&self, program: &Path, arguments: &[String]) -> Vec<PathBuf> {
        let mut roots = Vec::new();
        self.add_program(program, DEEPEST, &mut roots);
        for argument in arguments {
            let script = self.folder.join(argument);
            if is_script(&script) && script.is_file() {
                self.add_script(&script, &mut roots);
            }
        }
        let variables = PATHS.iter().filter_map(|name| self.variable(name));
        let listed = variables.flat_map(std::env::split_paths).filter(|path| path.is_absolute());
        roots.extend(listed.filter(|path| !is_broad(path)));
        roots.into_iter().filter_map(|root| self.resolve_path(&root)).filter(|root| root.exists()).collect()
    }

    /// Where a path leads, unless the child could change that.
    fn resolve_path(&self, path: &Path) -> Option<PathBuf> {
        let is_writable = |path: &Path| self.writes.iter().any(|root| path.starts_with(root));
        symlinks::follow(path, &is_writable)?.pop()
    }

    fn variable(&self, name: &str) -> Option<&OsString> {
        // The last one counts, as it does for the child.
        self.environment.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn add_program(&self, program: &Path, depth: usize, roots: &mut Vec<PathBuf>) {
        let is_writable = |path: &Path| self.writes.iter().any(|root| path.starts_with(root));
        let Some(names) = symlinks::follow(program, &is_writable) else { return };
        for name in &names {
            add_installation(name, roots);
        }
        let Some(interpreter) = names.last().and_then(|file| parse_shebang(file)) else { return };
        self.add_script(program, roots);
        for word in interpreter {
            if depth > 0
                && let Some(found) = self.find(&word)
            {
                self.add_program(&found, depth - 1, roots);
            }
        }
    }

    /// A script with what stands beside it, unless that is half the machine.
    fn add_script(&self, script: &Path, roots: &mut Vec<PathBuf>) {
        let Some(real) = self.resolve_path(script) else { return };
        let beside = real.parent().filter(|folder| !is_broad(folder) && !is_shared(folder));
        let is_package = |folder: &&Path| {
            ["package.json", "pyproject.toml"].iter().any(|name| folder.join(name).is_file())
        };
        let package = real.ancestors().skip(1).take_while(|folder| !is_broad(folder)).find(is_package);
        roots.extend(beside.into_iter().chain(package).map(Path::to_owned));
        add_installation(&real, roots);
    }
}

pub(super) fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|ending| SCRIPTS.iter().any(|known| ending == *known))
}

/// A file of an installation, and what is installed with it.
fn add_installation(file: &Path, roots: &mut Vec<PathBuf>) {
    roots.push(file.to_owned());
    let modules = file.ancestors().filter(|folder| folder.ends_with("node_modules")).last();
    roots.extend(modules.map(Path::to_owned));
    let Some((folder, prefix)) = file.parent().and_then(|folder| Some((folder, folder.parent()?))) else {
        return;
    };
    if folder.ends_with("shims") && !is_broad(prefix) {
        // Of a manager of versions, which looks for the right one by itself.
        roots.push(prefix.to_owned());
    } else if is_shared(folder) {
        roots.extend(INSTALLED.iter().map(|name| prefix.join(name)));
    }
}

/// Whether programs of many kinds lie there.
fn is_shared(folder: &Path) -> bool {
    ["bin", "sbin", "libexec", "shims"].iter().any(|name| folder.ends_with(name))
}

/// Whether much else is there: a top folder, somebody's home.
fn is_broad(folder: &Path) -> bool {
    let mut parts = folder.components().skip(1).map(std::path::Component::as_os_str);
    let (first, second, third) = (parts.next(), parts.next(), parts.next());
    let homes = ["home", "Users"];
    let is_home = first.is_some_and(|first| homes.iter().any(|home| first == *home)) && third.is_none();
    second.is_none() || is_home || folder == Path::new("/var/tmp")
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// What the first line of a script names: the interpreter, and behind `env` the program that it looks for.
fn parse_shebang(file: &Path) -> Option<Vec<OsString>> {
    let mut head = Vec::new();
    std::fs::File::open(file).ok()?.take(LONGEST_LINE).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words =
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(OsStr::from_bytes);
    let program = words.next()?;
    let is_flag = |word: &OsStr| word.as_bytes().starts_with(b"-") || word.as_bytes().contains(&b'=');
    let is_env = Path::new(program).ends_with("env");
    let looked_for = words.find(|word| is_env && !is_flag(word));
    Some([Some(program), looked_for].into_iter().flatten().map(OsStr::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn make_program(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_command_brings_what_is_installed_with_it_and_no_more() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        make_program(&root.join("node/bin/node"), "\x7fELF");
        let script = root.join("app/node_modules/server/dist/index.js");
        make_program(&script, "#!/usr/bin/env -S node --quiet\n");
        std::fs::create_dir_all(root.join("app/node_modules/.bin")).unwrap();
        symlink("../server/dist/index.js", root.join("app/node_modules/.bin/server")).unwrap();
        make_program(&root.join("own/run"), "#!/bin/sh\n");
        symlink("/etc/shadow", root.join("own/link")).unwrap();
        let environment = [("PATH".into(), root.join("node/bin").into_os_string())];
        let writes = [root.join("own")];
        let search = CommandSearch { environment: &environment, folder: &root, writes: &writes };

        let program = search.find(OsStr::new("app/node_modules/.bin/server")).unwrap();
        let roots = search.collect_roots(&program, &[]);
        for wanted in ["app/node_modules", "node/bin/node", "node/bin"] {
            assert!(roots.contains(&root.join(wanted)), "{wanted} in {roots:?}");
        }
        assert!(!roots.contains(&root) && !roots.contains(&root.join("node")), "{roots:?}");
        let own = search.find(OsStr::new("own/run")).unwrap();
        assert_eq!(
            search.collect_roots(&own, &["own/link".to_owned()]),
            [] as [PathBuf; 0],
            "a child can't widen its own reach"
        );
        assert_eq!(search.find(OsStr::new("server")), None);
        let beside = search.collect_roots(&root.join("node/bin/node"), &[script.display().to_string()]);
        assert!(beside.contains(&root.join("app/node_modules/server/dist")), "{beside:?}");
    }

    #[test]
    fn a_home_or_a_top_folder_is_never_a_root() {
        for broad in ["/", "/srv", "/tmp", "/home", "/home/meera", "/var/tmp", "/root"] {
            assert!(is_broad(Path::new(broad)), "{broad}");
        }
        for narrow in ["/srv/app", "/home/meera/app", "/opt/node/lib", "/home/asha/.pyenv"] {
            assert!(!is_broad(Path::new(narrow)), "{narrow}");
        }
    }
}
