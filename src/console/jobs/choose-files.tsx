import { useRef } from "react";
import { Button } from "../parts/button.tsx";
import { acceptedFiles } from "../upload/media-kind.ts";
import { useUploads } from "../upload/uploads.tsx";

/** A button that opens the browser's file chooser and adds the files to the draft. */
export function ChooseFiles({
  text,
  look,
}: {
  readonly text: string;
  readonly look: "plain" | "quiet";
}) {
  const { take } = useUploads();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button look={look} onPress={() => input.current?.click()}>
        {text}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={acceptedFiles}
        onChange={({ target }) => {
          take(target.files ?? []);
          // The value is reset so that the same file can be chosen again.
          target.value = "";
        }}
      />
    </>
  );
}
