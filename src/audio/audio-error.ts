/** What is wrong with audio that a client sends. `field` names what the client has to change. */
export class AudioError extends Error {
  override readonly name = "AudioError";
  readonly field: "audio" | "sampleRateHertz";

  constructor(field: AudioError["field"], message: string) {
    super(message);
    this.field = field;
  }
}
