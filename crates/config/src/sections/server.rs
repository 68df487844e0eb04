use crate::kinds::{Address, Count, Endpoint, Kibibytes, Seconds};
use crate::section::section;

section! {
    /// How Munshi answers over HTTP.
    Server in "server" {
        /// The address and port to listen on. 127.0.0.1 serves this machine only; 0.0.0.0 serves the network.
        listen: Address = "127.0.0.1:8400",
        /// The address people open in a browser, such as `https://munshi.example`, for links that are sent to them. With
        /// https, cookies are for TLS alone. Empty means the address it listens on.
        public_url: Endpoint = "",
        /// How long a request may take before it is answered with a timeout.
        request_timeout ("request_timeout_seconds"): Seconds<1, 3600> = 30,
        /// The largest request body that is read.
        body_limit ("body_limit_kib"): Kibibytes<1, 1_048_576> = 1024,
        /// How many requests one API key may send in a minute, to each node.
        key_requests_per_minute: Count<1, 10_000_000> = 600,
        /// On shutdown, how long requests and jobs in flight may take to finish.
        shutdown_grace ("shutdown_grace_seconds"): Seconds<0, 3600> = 20,
    }
}
