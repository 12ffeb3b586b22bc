/** The values that the tokens of a client key contain. */
export interface ClientFacts {
  readonly keyId: string;
  readonly clientId: string;
  readonly audience: string;
  readonly algorithm: string;
}

/**
 * The openssl commands that sign a file named token.txt. There is no command for ES256, because the
 * signatures that openssl writes have a different format from those in tokens.
 */
const signers: Readonly<Record<string, string>> = {
  EdDSA: "openssl pkeyutl -sign -rawin -inkey private-key.pem -in token.txt",
  RS256: "openssl dgst -sha256 -sign private-key.pem token.txt",
};

/**
 * Returns shell commands that sign a token valid for ten minutes and send a request with it, or
 * undefined if openssl cannot sign with this algorithm.
 */
export function signedRequest({
  keyId,
  clientId,
  audience,
  algorithm,
}: ClientFacts): string | undefined {
  const signer = signers[algorithm];
  if (signer === undefined) return undefined;
  const header = JSON.stringify({ alg: algorithm, kid: keyId, typ: "JWT" });
  const claims = `{"iss":"${clientId}","sub":"${clientId}","aud":"${audience}","iat":%s,"exp":%s}`;
  return [
    `base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }`,
    `now=$(date +%s)`,
    `header=$(printf '${header}' | base64url)`,
    `claims=$(printf '${claims}' $now $((now + 600)) | base64url)`,
    `printf %s "$header.$claims" > token.txt`,
    `token="$header.$claims.$(${signer} | base64url)"`,
    `curl -H "Authorization: Bearer $token" ${audience}/v1/caller`,
  ].join("\n");
}
