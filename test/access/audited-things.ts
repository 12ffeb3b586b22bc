import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { callRest, type Answer, type TestService } from "../spec/service.ts";
import { draftOf } from "../spec/transcripts.ts";

const { publicKey } = generateKeyPairSync("ed25519");
export const publicPem = publicKey.export({ type: "spki", format: "pem" }).toString();
/** A stretch that is marked as checked. */
export const checked = { kind: "CHECKED", startTime: "0s", endTime: "1s" };

/** Creates the resources that audited calls are about; each function returns a name. */
export function auditedThings(service: () => TestService) {
  const make = async (path: string, body: unknown, read: (json: Answer["json"]) => string) => {
    const { status, json } = await service().call("POST", path, body);
    assert.equal(status, 200, JSON.stringify(json));
    return read(json);
  };
  let phrases = 0;
  const newPhrase = () => ({ phrase: `orð ${(phrases += 1)}`, languageCode: "is-IS" });
  let members = 0;
  const newEmail = () => `member-${(members += 1)}@example.is`;
  const makeTranscript = () => make("/v1alpha1/transcripts", draftOf("Fundur"), ({ name }) => name);
  return {
    newPhrase,
    newEmail,
    makeTranscript,
    makeKey: () => make("/v1/apiKeys", { displayName: "a" }, ({ apiKey }) => apiKey.name),
    makeClientKey: () => make("/v1/clientKeys", { publicKey: publicPem }, ({ name }) => name),
    makeWebhook: () =>
      make("/v1/webhooks", { url: "http://127.0.0.1/" }, ({ webhook }) => webhook.name),
    makePhrase: () => make("/v2beta1/vocabularyPhrases", newPhrase(), ({ name }) => name),
    makeShare: async () =>
      await make(`/v1alpha1/${await makeTranscript()}/shares`, {}, ({ name }) => name),
    makeMember: () => make("/v1/members", { email: newEmail(), role: "OWNER" }, ({ name }) => name),
    /** Creates a transcript with a mark of another key. */
    makeMarked: async () => {
      const name = await makeTranscript();
      const other = await make("/v1/apiKeys", { displayName: "b" }, ({ secret }) => secret);
      const path = `/v1alpha1/${name}:modifyReview`;
      const body = { add: [checked] };
      const { status } = await callRest(service().address, other, { method: "POST", path, body });
      assert.equal(status, 200);
      return name;
    },
    /** Creates a transcript and puts it into the bin. */
    makeBinned: async () => {
      const name = await makeTranscript();
      return await make("/v1alpha1/transcripts:bin", { names: [name] }, () => name);
    },
  };
}
