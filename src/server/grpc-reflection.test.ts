import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, createRouterTransport } from "@connectrpc/connect";
import { ServerReflection } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { Speech } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createGrpcReflection } from "./grpc-reflection.ts";
import { cpuSlowness } from "../../test/fixtures/cpu-slowness.ts";

test(
  "createGrpcReflection() ends a stream that sends no request for a while",
  { timeout: 10_000 * cpuSlowness },
  async () => {
    const [v1] = createGrpcReflection([Speech], [], { idleMsMax: 50 });
    assert.ok(v1);
    const transport = createRouterTransport(({ service }) => {
      service(v1.service, v1.implementation);
    });
    const never = Promise.withResolvers<void>();
    async function* questions() {
      yield { messageRequest: { case: "listServices" as const, value: "" } };
      await never.promise;
    }
    const answers = createClient(ServerReflection, transport).serverReflectionInfo(questions());
    const kinds: (string | undefined)[] = [];
    await assert.rejects(async () => {
      for await (const { messageResponse } of answers) kinds.push(messageResponse.case);
    }, /50 ms|0\.05 s|internal error/);
    assert.deepEqual(kinds, ["listServicesResponse"]);
    never.resolve();
  },
);
