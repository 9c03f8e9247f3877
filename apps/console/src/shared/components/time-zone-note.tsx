/** States the zone of the times above, which are on the reader's clock; other sources state UTC. */
export function TimeZoneNote() {
  return (
    <footer class="hint time-zone">
      Times are in the time zone of this browser
      {" ("}
      {Intl.DateTimeFormat().resolvedOptions().timeZone}).
    </footer>
  );
}
