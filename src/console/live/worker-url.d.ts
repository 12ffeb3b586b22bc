// Vite builds what is imported so as a file of its own, and gives its address.
declare module "*?worker&url" {
  const url: string;
  // oxlint-disable-next-line import/no-default-export -- what Vite makes of it
  export default url;
}
