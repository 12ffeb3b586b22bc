// Vite builds what is imported so as a file of its own, and gives its address.
declare module "*?worker&url" {
  const url: string;
  export default url;
}
