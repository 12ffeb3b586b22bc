// Measures, with two nodes on one database, how long a key that one node has revoked stays valid on
// the other node, and how long its streams stay open there.
import { openCluster, type ClusterNode } from "../../test/fault/cluster.ts";
import { callRest } from "../../test/spec/service.ts";
import { openStream, streamingConfig } from "../../test/spec/stream.ts";
import type { Figure } from "./figure.ts";

const rounds = 8;
const socketsARound = 20;

/** Measures both times in ms. Each figure is the maximum of eight rounds. */
export async function measureRevocation(): Promise<Figure[]> {
  await using cluster = await openCluster({});
  const nodes = [cluster.addNode("api"), cluster.addNode("api")] as const;
  // The first node creates the account and its key.
  await nodes[0].start();
  await nodes[1].start();
  const times = [];
  for (let round = 0; round < rounds; round += 1) times.push(await revokeOnce(nodes));
  const goodMs = times.map(({ good }) => good);
  const openMs = times.map(({ open }) => open);
  const noteOf = (ms: readonly number[]) =>
    `${Math.min(...ms).toFixed(0)} to ${Math.max(...ms).toFixed(0)} ms`;
  const sockets = `${socketsARound} sockets, ${noteOf(openMs)}`;
  return [
    {
      name: "revoked key, on the other node",
      value: Math.max(...goodMs),
      max: 1_000,
      unit: "ms",
      note: noteOf(goodMs),
    },
    {
      name: "its last stream, on the other node",
      value: Math.max(...openMs),
      max: 5_000,
      unit: "ms",
      note: sockets,
    },
  ];
}

/**
 * Revokes a key on one node. Returns how long after the response the other node still accepted a
 * call, and how long it took to close the last socket.
 */
async function revokeOnce([here, there]: readonly [ClusterNode, ClusterNode]) {
  const { address, key } = here.service;
  const { address: other } = there.service;
  const make = { method: "POST", path: "/v1/apiKeys", body: { displayName: "to revoke" } };
  const { secret, apiKey } = (await callRest(address, key, make)).json;
  const sockets = await Promise.all(
    Array.from({ length: socketsARound }, () => openStream(other, { token: secret })),
  );
  for (const socket of sockets) socket.send(streamingConfig());
  const isAccepted = async () => {
    const { status } = await callRest(other, secret, {
      method: "GET",
      path: "/v1alpha1/transcripts",
    });
    return status === 200;
  };
  if (!(await isAccepted())) throw new Error("a new key is refused");
  await callRest(address, key, { method: "DELETE", path: `/v1/${apiKey.name}` });
  const revokedAt = performance.now();
  const closed = Promise.all(sockets.map((socket) => socket.closed)).then(() => performance.now());
  let lastUseAt = revokedAt;
  for (let at = performance.now(); await isAccepted(); at = performance.now()) lastUseAt = at;
  return { good: lastUseAt - revokedAt, open: (await closed) - revokedAt };
}
