/** CPU time of this process so far, in milliseconds: a busy machine does not change what a piece of work takes of it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
