import { Button } from "../parts/button.tsx";
import { useText, type Phrase } from "../text/language.tsx";
import { transcriptText } from "../text/transcript.ts";
import type { Picture } from "./use-picture.ts";

/** The buttons on a picture, which enlarge it, move it to a window of its own, and close it. */
export function PictureControls({
  picture: { isLarge, change },
  onFloat,
}: {
  readonly picture: Picture;
  /** Undefined if the browser has no such windows. */
  readonly onFloat: (() => void) | undefined;
}) {
  return (
    <div className="picture-controls">
      <Control
        text={isLarge ? transcriptText.pictureSmaller : transcriptText.pictureLarger}
        path={isLarge ? "M9 2v5h5M7 14V9H2" : "M10 2h4v4M6 14H2v-4M14 2 9 7M2 14l5-5"}
        onPress={() => change(isLarge ? "small" : "large")}
      />
      {onFloat && (
        <Control
          text={transcriptText.pictureFloat}
          path="M14 7V3H2v10h4M8 9h6v4H8z"
          onPress={onFloat}
        />
      )}
      <Control
        text={transcriptText.pictureClose}
        path="M3 3l10 10M13 3 3 13"
        onPress={() => change("off")}
      />
    </div>
  );
}

function Control({
  text,
  path,
  onPress,
}: {
  readonly text: Phrase<string>;
  /** The lines of its icon, in a square of 16. */
  readonly path: string;
  readonly onPress: () => void;
}) {
  const t = useText();
  return (
    <Button className="picture-control" aria-label={t(text)} onPress={onPress}>
      <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <title>{t(text)}</title>
        <path d={path} />
      </svg>
    </Button>
  );
}
