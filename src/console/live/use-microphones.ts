import { useEffect, useState } from "react";

/** Returns the microphones, which browsers list once the user has allowed one. */
export function useMicrophones(isAllowed: boolean): readonly MediaDeviceInfo[] {
  const [microphones, setMicrophones] = useState<readonly MediaDeviceInfo[]>([]);
  useEffect(() => {
    if (!("mediaDevices" in navigator)) return undefined;
    const { mediaDevices } = navigator;
    let isOver = false;
    const readList = async (): Promise<void> => {
      const devices = await mediaDevices.enumerateDevices();
      const listed = devices.filter(
        ({ kind, deviceId }) => kind === "audioinput" && deviceId !== "",
      );
      if (!isOver) setMicrophones(listed);
    };
    // A page without permission has no list of microphones, and does not need one.
    const update = (): void => void readList().catch(() => {});
    update();
    mediaDevices.addEventListener("devicechange", update);
    return () => {
      isOver = true;
      mediaDevices.removeEventListener("devicechange", update);
    };
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- permission changes the list
  }, [isAllowed]);
  return microphones;
}
