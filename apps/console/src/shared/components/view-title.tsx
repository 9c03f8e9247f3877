import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { WholeId } from "./foreign-text.tsx";

/** The title of a view, which receives the focus when the view opens, as after loading a new page. */
export function ViewTitle({
  title,
  id,
  children,
}: {
  title: string;
  /** The id of the subject of the view. */
  id?: string;
  /** Shown beside the title. */
  children?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = id === undefined ? title : `${title} …${id.slice(-8)}`;
    heading.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, []);
  return (
    <header class="view-title">
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      {id !== undefined && <WholeId id={id} />}
      {children}
    </header>
  );
}
