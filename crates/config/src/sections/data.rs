use crate::kinds::{CountKind, DataFolderKind};
use crate::section::section;

section! {
    /// Where Munshi stores its files.
    DataSection in "data" {
        /// The data folder; created on first run. `~` is your home folder. The default honours XDG_DATA_HOME; without a
        /// home folder it is `./munshi-data`.
        dir: DataFolderKind = "~/.local/share/munshi",
        /// Days before a conversation moves from the database to files in `archive`, with the arguments and results of
        /// its tool calls. A session idle that long also drops its summary. 0 disables archiving.
        hot_days: CountKind<0, 36_500> = 90,
    }
}
