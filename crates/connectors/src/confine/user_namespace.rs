//! Namespaces for the child: of users, so that the launcher may mount and nobody in it holds a capability of the machine's; of
//! mounts, for [`super::mount_view`]; and of System V IPC, so that shared memory of other programs is out of reach.

use std::io::{Read, Write};
use std::process::{Command, ExitCode, Stdio};

use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getppid};
use rustix::thread::UnshareFlags;

use super::launcher;

/// The program as it runs now.
const OURSELVES: &str = "/proc/self/exe";

/// Moves this process into namespaces of its own, where everybody is who they are outside. A process with threads can't.
pub(super) fn enter() -> Result<(), String> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        return enter_with_all_ids();
    }
    unshare()?;
    // Whoever could leave a group would gain what is closed to that group.
    write("/proc/self/setgroups", "deny")?;
    write("/proc/self/uid_map", &build_identity_line(user.as_raw(), 1))?;
    write("/proc/self/gid_map", &build_identity_line(group.as_raw(), 1))
}

/// Root reads everybody's files, so it needs everybody in its namespace. Only a process outside may map more than one user: a
/// helper, which waits until there is something to map.
fn enter_with_all_ids() -> Result<(), String> {
    let mut helper = Command::new(OURSELVES)
        .args([launcher::COMMAND, launcher::MAP_IDS])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| format!("the helper that maps users can't be started: {error}"))?;
    let entered = unshare().and_then(|()| {
        let mut input = helper.stdin.take().ok_or("the helper that maps users has no input")?;
        input.write_all(b"\n").map_err(|error| format!("the helper that maps users: {error}"))
    });
    // Without a line it ends by itself.
    drop(helper.stdin.take());
    let ended = helper.wait().map_err(|error| format!("the helper that maps users: {error}"))?;
    entered?;
    match ended.success() {
        true => Ok(()),
        false => Err("the users of the namespace can't be mapped".to_owned()),
    }
}

/// The helper: maps every user and group that it knows itself to itself, in its parent's namespace.
pub(super) fn map_parents_ids() -> ExitCode {
    match map_ids() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Where even this can't be written, the code still tells.
            let _ = writeln!(std::io::stderr(), "munshi: {why}");
            ExitCode::FAILURE
        }
    }
}

fn map_ids() -> Result<(), String> {
    let told = std::io::stdin().read(&mut [0; 1]).map_err(|error| format!("the launcher: {error}"))?;
    if told == 0 {
        // There is no namespace to map; the launcher says why.
        return Ok(());
    }
    let parent = getppid().ok_or("there is no parent process")?.as_raw_nonzero();
    for map in ["uid_map", "gid_map"] {
        let own = std::fs::read_to_string(format!("/proc/self/{map}"));
        let own = own.map_err(|error| format!("{map}: {error}"))?;
        write(&format!("/proc/{parent}/{map}"), &build_identity_map(&own)?)?;
    }
    Ok(())
}

/// All ids that a map has inside, each as itself.
fn build_identity_map(map: &str) -> Result<String, String> {
    let lines = map.lines().map(|line| {
        let mut numbers = line.split_ascii_whitespace().map(str::parse);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(first)), Some(Ok(_)), Some(Ok(count))) => Ok(build_identity_line(first, count)),
            _ => Err(format!("a map of users has the line `{line}`")),
        }
    });
    lines.collect()
}

fn build_identity_line(first: u32, count: u32) -> String {
    format!("{first} {first} {count}\n")
}

#[expect(deprecated, reason = "it is unsafe only for tables of files, which stay as they are")]
fn unshare() -> Result<(), String> {
    let kinds = UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    rustix::thread::unshare(kinds).map_err(|error| match error {
        // As it is told of disks, this would lead nobody to the cause.
        Errno::NOSPC => "no user namespace: user.max_user_namespaces allows no more".to_owned(),
        other => format!("no user namespace: {other}"),
    })
}

/// In one piece: the kernel takes a map only so.
fn write(path: &str, text: &str) -> Result<(), String> {
    let opened = std::fs::OpenOptions::new().write(true).open(path);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| format!("{path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_inside_is_mapped_to_themselves() {
        let map = "         0     100000          1\n         5    4000000 4294967290\n";
        assert_eq!(build_identity_map(map).unwrap(), "0 0 1\n5 5 4294967290\n");
        assert!(build_identity_map("0 0\n").is_err());
    }
}
