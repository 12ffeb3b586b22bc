import { Button } from "../parts/button.tsx";
import { useText } from "../text/language.tsx";
import { transcriptText } from "../text/transcript.ts";
import { usePlaybackState, type Playback } from "./playback.ts";

/** A button that scrolls back to the current word, after the user has scrolled away from it. */
export function FollowButton({
  playback,
  onPress,
}: {
  readonly playback: Playback;
  readonly onPress: () => void;
}) {
  const t = useText();
  const { isPlaying } = usePlaybackState(playback);
  if (!isPlaying) return null;
  return (
    <Button className="words-follow" onPress={onPress}>
      {t(transcriptText.follow)}
    </Button>
  );
}
