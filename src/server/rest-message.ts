import type { Message } from "@bufbuild/protobuf";
import type { Caller } from "../auth/caller.ts";
import type { HeldShare } from "../std/held-bytes.ts";
import { bodyTypeOf, takesHttpBody } from "../transcoding/bind-request.ts";
import type { Routed, Transcoder } from "../transcoding/transcoder.ts";
import { clientGone } from "./client-gone.ts";
import { headerOf, type HttpRequest, type HttpResponse } from "./http.ts";
import { admitMessage, type MessageReading } from "./message-reading.ts";

/** Reads the message of a call. A long message is read on another thread. */
export async function restMessage(
  routed: Routed,
  body: Uint8Array,
  call: {
    readonly caller: Caller;
    readonly share: HeldShare;
    readonly request: HttpRequest;
    readonly response: HttpResponse;
  },
  { transcoder, reading }: { readonly transcoder: Transcoder; readonly reading: MessageReading },
): Promise<Message> {
  const { binding } = routed;
  const { input } = binding.method;
  const type = takesHttpBody(binding) ? undefined : bodyTypeOf(binding);
  const contentType = headerOf(call.request, "content-type");
  if (type === undefined || body.length === 0) return transcoder.bind(routed, body, contentType);
  const { share, response, caller } = call;
  const gone = new AbortController();
  const onClose = () => {
    gone.abort(clientGone());
  };
  response.once("close", onClose);
  try {
    const received = { bytes: body, type, input, format: "json", isStrict: true } as const;
    const { accountId } = caller;
    const owner = { accountId, share, signal: gone.signal };
    const { bytes, finish } = await admitMessage(received, owner, reading);
    const message = transcoder.bind(routed, bytes, contentType);
    finish?.(message);
    return message;
  } finally {
    response.off("close", onClose);
  }
}
