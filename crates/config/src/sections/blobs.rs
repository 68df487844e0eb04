use crate::kinds::{
    CountKind, EndpointKind, HoursKind, OptionalFileKind, OptionalTextKind, SecondsKind, SecretKeyKind,
    TextKind,
};
use crate::section::section;

section! {
    /// Files that people give: pictures, documents, sounds. They are encrypted like their messages.
    BlobsSection in "blobs" {
        /// Folder for the files. Empty means `blobs` in the data folder. With more than one node it must be one that all reach, or use
        /// a bucket.
        folder: OptionalFileKind = "",
        /// S3 bucket to keep files in instead of a folder. Empty for none.
        bucket: OptionalTextKind = "",
        /// Address of the S3 server. Empty means Amazon's for the region.
        endpoint: EndpointKind = "",
        /// Region of the bucket; most other servers take any.
        region: TextKind = "us-east-1",
        /// What the names of our objects begin with in the bucket, such as `munshi/`.
        prefix: OptionalTextKind = "",
        /// Access key id of the bucket.
        access_key: OptionalTextKind = "",
        /// Its secret.
        secret_key: SecretKeyKind = "",
        /// Largest file that is taken, in MB.
        file_mb: CountKind<1, 1_000> = 25,
        /// How much one tenant may keep, in MB.
        tenant_mb: CountKind<1, 100_000_000> = 5_000,
        /// Memory for decoding one picture, in MB; pictures are decoded one at a time. 256 is enough for a photo of 60 megapixels.
        picture_memory_mb: CountKind<16, 16_000> = 256,
        /// Free space on the disk of the folder, in MB, below which files are refused: the database may need it. With a bucket, files lie in the
        /// folder while they come in.
        keep_free_mb: CountKind<0, 1_000_000> = 500,
        /// Files that one node takes at the same time; at most 3 of them from one person.
        uploads_at_once: CountKind<1, 1_000> = 16,
        /// Time for an upload.
        upload_seconds: SecondsKind<5, 1_800> = 300,
        /// How long a file waits for a message that carries it.
        unattached_hours: HoursKind<1, 720> = 24,
        /// How long the address of a file works at least; it works at most twice as long.
        address_minutes: CountKind<1, 1_440> = 15,
    }
}
