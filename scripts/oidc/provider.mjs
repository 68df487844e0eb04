// A certified OpenID provider on a loopback port, for tests: whoever names themself is let in under that name.
//
//   POST /rotate   other keys from now on, as when a service changes them
import http from "node:http";
import { createRequire } from "node:module";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import path from "node:path";

const home = process.argv[2];
const entry = createRequire(path.join(home, "package.json")).resolve("oidc-provider");
const { default: Provider } = await import(pathToFileURL(entry).href);

function keys() {
  const kinds = [["rsa", { modulusLength: 2048 }, "RS256"], ["ec", { namedCurve: "P-256" }, "ES256"]];
  return kinds.map(([kind, options, alg]) => {
    const jwk = generateKeyPairSync(kind, options).privateKey.export({ format: "jwk" });
    return { ...jwk, use: "sig", alg, kid: `${alg}-${randomUUID()}` };
  });
}

const client = (id, more) => ({
  client_id: id,
  redirect_uris: ["http://munshi.example/account/oidc/back"],
  response_types: ["code"],
  grant_types: ["authorization_code"],
  ...more,
});

function made(issuer) {
  const provider = new Provider(issuer, {
    jwks: { keys: keys() },
    clients: [
      client("munshi", { client_secret: "s3cret/+ and more", id_token_signed_response_alg: "RS256" }),
      client("public", { token_endpoint_auth_method: "none", id_token_signed_response_alg: "ES256" }),
    ],
    clientDefaults: {},
    pkce: { required: () => true },
    scopes: ["openid", "email", "profile"],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@shop.example`, email_verified: id !== "unverified", name: `${id} <b>Devi</b>` }),
    }),
    // Whoever came in has agreed.
    loadExistingGrant: async (context) => {
      const { client, session, provider } = context.oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
    cookies: { keys: [randomUUID()] },
    features: { devInteractions: { enabled: true } },
  });
  return provider.callback();
}

let serve;
let issuer;
const server = http.createServer((request, response) => {
  if (request.method === "POST" && request.url === "/rotate") {
    serve = made(issuer);
    response.end("rotated");
    return;
  }
  serve(request, response);
});
server.listen(0, "127.0.0.1", () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  serve = made(issuer);
  console.log(issuer);
});
