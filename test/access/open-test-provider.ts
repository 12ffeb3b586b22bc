import { once } from "node:events";
import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import { Provider } from "oidc-provider";

/** A user who can sign in with the provider. */
export interface TestPerson {
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
}

/** An OpenID Connect provider that signs in the configured user without a form. */
export interface TestProvider extends AsyncDisposable {
  readonly issuer: string;
  /**
   * Registers the client `hlust` with the secret `hlust secret`; it may send browsers back to this
   * address.
   */
  register(redirectUri: string): void;
  /** The user who signs in; if undefined, every sign-in returns with an error. */
  person: TestPerson | undefined;
  /** While true, every request fails. */
  isDown: boolean;
}

/** Opens the provider. `host` is 127.0.0.1, or localhost for a site other than the service's. */
export async function openTestProvider(host = "127.0.0.1"): Promise<TestProvider> {
  let provider: Provider | undefined;
  const server = createServer((request, response) => {
    if (opened.isDown || provider === undefined) response.writeHead(503).end();
    else if (request.url?.startsWith("/login/")) {
      const { person } = opened;
      const result = person ? { login: { accountId: person.subject } } : { error: "access_denied" };
      void provider.interactionFinished(request, response, result);
    } else void provider.callback()(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the provider is not bound");
  const issuer = `http://${host}:${bound.port}`;
  const opened: TestProvider = {
    issuer,
    register(redirectUri) {
      provider = makeProvider(issuer, redirectUri, () => opened.person);
    },
    person: undefined,
    isDown: false,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return opened;
}

function makeProvider(
  issuer: string,
  redirectUri: string,
  personNow: () => TestPerson | undefined,
): Provider {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return new Provider(issuer, {
    clients: [{ client_id: "hlust", client_secret: "hlust secret", redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kty: "RSA", use: "sig" }] },
    cookies: { keys: ["test"] },
    features: { devInteractions: { enabled: false } },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    interactions: { url: (_context, { uid }) => `/login/${uid}` },
    pkce: { required: () => true },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: () => {
        const { email, emailVerified } = personNow() ?? { email: "", emailVerified: false };
        return { sub: accountId, email, email_verified: emailVerified };
      },
    }),
    async loadExistingGrant(context) {
      const { client, session } = context.oidc;
      const grant = new context.oidc.provider.Grant({
        clientId: client?.clientId ?? "",
        accountId: session?.accountId ?? "",
      });
      grant.addOIDCScope("openid email profile");
      await grant.save();
      return grant;
    },
  });
}
