import { useEffect, useState } from "react";

/** The microphones that there are, as soon as the browser tells them: once one was allowed. */
export function useMicrophones(isAllowed: boolean): readonly MediaDeviceInfo[] {
  const [microphones, setMicrophones] = useState<readonly MediaDeviceInfo[]>([]);
  useEffect(() => {
    if (!("mediaDevices" in navigator)) return undefined;
    const { mediaDevices } = navigator;
    let isOver = false;
    const look = async (): Promise<void> => {
      const devices = await mediaDevices.enumerateDevices();
      const told = devices.filter(({ kind, deviceId }) => kind === "audioinput" && deviceId !== "");
      if (!isOver) setMicrophones(told);
    };
    // Who may not ask has no list, and needs none.
    const lookOrNot = (): void => void look().catch(() => {});
    lookOrNot();
    mediaDevices.addEventListener("devicechange", lookOrNot);
    return () => {
      isOver = true;
      mediaDevices.removeEventListener("devicechange", lookOrNot);
    };
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- the list is another one then
  }, [isAllowed]);
  return microphones;
}
