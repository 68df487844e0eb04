use crate::kinds::{CountKind, OptionalTextKind};
use crate::section::section;

section! {
    /// What people are told by mail. To whoever keeps the installation: backups that fail, a disk that fills up, keys that are missing, an audit
    /// log that does not add up. They need the account in `[mail]`; the log has them either way.
    AlertsSection in "alerts" {
        /// Address that alerts go to, such as `keeper@example.com`. Empty sends none.
        email: OptionalTextKind = "",
        /// Most mails with alerts in an hour. What comes after is told in the first mail of the next hour.
        per_hour: CountKind<1, 1000> = 12,
        /// Minutes after which a question of a tenant that nobody has answered goes to the next address of whoever may
        /// answer it; so does what has not arrived at the one before.
        next_after_minutes: CountKind<1, 10_000> = 15,
        /// Free space of the disk with the data, in MiB, below which an alert is raised. It ends at a tenth more.
        disk_free_mebibytes: CountKind<1, 10_000_000> = 1024,
        /// Age of the newest backup that `munshi backup` made of a SQLite database on this machine, in hours, from which an alert is
        /// raised. 0 never does. Postgres has tools of its own, and nothing is looked at.
        backup_hours: CountKind<0, 100_000> = 48,
    }
}
