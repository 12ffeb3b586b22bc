import type { DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { openTextSocket, SocketRefused, type TextSocket } from "./open-text-socket.ts";
import { type AnswerType, readStreamAnswer } from "./read-answer.ts";
import { errorOfConnection, errorOfResponse } from "./read-error.ts";
import { unlessAborted } from "../std/until-aborted.ts";

export interface WebSocketCall<O extends DescMessage> {
  /**
   * The URL of the service: http: or https:, host and port, and the path prefix of a proxy, if any,
   * without a slash at the end.
   */
  readonly base: string;
  readonly messages: AsyncIterable<Message>;
  /**
   * Writes a message as text. The path is the path of the stream, which the first message may
   * determine.
   */
  readonly write: (message: Message) => { readonly target: string; readonly text: string };
  /**
   * The message that is sent after all others, since a WebSocket cannot be closed in one direction
   * only.
   */
  readonly lastMessage: Message | undefined;
  /** The message that determines the path of a stream without messages. */
  readonly noMessage: Message;
  readonly header: Headers;
  readonly signal: AbortSignal;
  readonly answer: AnswerType<O>;
}

/**
 * Opens a bidirectional stream over a WebSocket (§4.9). Resolves when the stream is open. Throws
 * ConnectError before and after that.
 */
export async function callOverWebSocket<O extends DescMessage>(
  call: WebSocketCall<O>,
): Promise<AsyncIterable<MessageShape<O>>> {
  const protocols = protocolsOf(call.header);
  const messages = call.messages[Symbol.asyncIterator]();
  const first = await unlessAborted(messages.next(), call.signal);
  const { target, text } = call.write(first.done ? call.noMessage : first.value);
  const socket = await open(call, target, protocols);
  const send = async (): Promise<void> => {
    let isOpen = first.done === true || (await socket.send(text));
    while (isOpen) {
      const next = await unlessAborted(messages.next(), call.signal);
      if (next.done) break;
      isOpen = await socket.send(call.write(next.value).text);
    }
    if (isOpen && call.lastMessage) await socket.send(call.write(call.lastMessage).text);
  };
  send().catch((error: unknown) => {
    socket.fail(error);
  });
  return receive(socket, call.answer);
}

async function* receive<O extends DescMessage>(
  socket: TextSocket,
  answer: AnswerType<O>,
): AsyncGenerator<MessageShape<O>, void> {
  try {
    for await (const text of socket.texts) yield readStreamAnswer(answer, text);
  } finally {
    socket.close();
  }
}

async function open<O extends DescMessage>(
  { base, header, signal }: WebSocketCall<O>,
  target: string,
  protocols: readonly string[],
): Promise<TextSocket> {
  try {
    return await openTextSocket(`${base.replace(/^http/, "ws")}${target}`, protocols, signal);
  } catch (error) {
    if (!(error instanceof SocketRefused)) throw error;
    throw await whyRefused(`${base}${target}`, header, signal);
  }
}

/**
 * Finds out why a socket was refused by sending the same request without an upgrade, which is
 * refused with the reason. Pages get the reason in a frame instead.
 */
async function whyRefused(
  url: string,
  headers: Headers,
  signal: AbortSignal,
): Promise<ConnectError> {
  try {
    const response = await fetch(url, { headers, signal });
    const error = await errorOfResponse(response);
    if (!response.ok && response.status !== 426) return error;
  } catch (error) {
    return errorOfConnection(error, "the service cannot be reached");
  }
  return new ConnectError("the WebSocket could not be opened", Code.Unavailable);
}

/**
 * Returns the token in the form that browsers can send (§5). A WebSocket carries no other headers.
 */
function protocolsOf(header: Headers): readonly string[] {
  const others = [...header.keys()].filter((name) => name !== "authorization");
  if (others.length > 0) {
    const problem = `a WebSocket cannot send these headers of the call: ${others.join(", ")}`;
    throw new ConnectError(problem, Code.InvalidArgument);
  }
  const authorization = header.get("authorization");
  if (authorization === null) return [];
  const token = /^Bearer +([!#$%&'*+.^_`|~0-9A-Za-z-]+)$/i.exec(authorization)?.[1];
  if (token !== undefined) return ["Bearer", token];
  throw new ConnectError(
    "the token cannot be the name of a WebSocket protocol",
    Code.Unauthenticated,
  );
}
