import { Portal, type PortalProps, Transition } from "@mantine/core";
import {
	type ComponentProps,
	cloneElement,
	type ReactElement,
	type ReactNode,
	useLayoutEffect,
	useState,
} from "react";

/**
 * The renders until the content may show: the portal takes the first two, and what it showed at once
 * would not fade in.
 */
const RENDERS = 3;

type Fading = ReactElement<ComponentProps<typeof Transition>>;

const isFading = (content: ReactNode): content is Fading =>
	(content as Fading | null)?.type === Transition;

/**
 * The portal of Mantine's popovers, menus and tooltips. It renders nothing until it first opens. A
 * list has thirty closed ones, and each rendered a portal twice and asked the browser whether the
 * reader wants less motion.
 */
export function OptionalPortal({
	withinPortal = true,
	children,
	...others
}: PortalProps & { withinPortal?: boolean }) {
	const isClosed =
		isFading(children) &&
		!children.props.mounted &&
		!children.props.keepMounted;
	const [renders, setRenders] = useState(isClosed ? 0 : RENDERS);
	useLayoutEffect(() => {
		if (!isClosed && renders < RENDERS) setRenders(renders + 1);
	}, [isClosed, renders]);
	if (renders === 0) return null;
	const content =
		isFading(children) && renders < RENDERS
			? cloneElement(children, { mounted: false })
			: children;
	return withinPortal ? <Portal {...others}>{content}</Portal> : content;
}
