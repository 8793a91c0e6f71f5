import {
	Anchor,
	type AnchorProps,
	Button,
	type ButtonProps,
	Menu,
	type MenuItemProps,
	rem,
	Text,
} from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentPropsWithRef } from "react";

type A = ComponentPropsWithRef<"a">;

const LINK = `mantine-focus-auto ${Anchor.classes.root} ${Text.classes.root} mantine-Text-root mantine-Anchor-root`;
/** The properties that a plain element can have. */
const PLAIN =
	/^(?:on[A-Z]|aria-|data-|(?:children|disabled|download|href|id|ref|rel|role|tabIndex|target|title)$)/;

/**
 * Looks like Mantine's Anchor. It is a plain element, because a page has up to a hundred links, and
 * each Anchor renders three components. A link with rarer properties is an Anchor.
 */
function AnchorLink(props: AnchorProps & Omit<A, keyof AnchorProps>) {
	const {
		className,
		style,
		size,
		underline = "hover",
		inherit,
		fw,
		c,
		lineClamp,
		maw,
		...others
	} = props;
	const isPlain =
		(c === undefined || c === "inherit") &&
		(maw === undefined || typeof maw === "number") &&
		(size === undefined || size === "sm" || size === "xs") &&
		(fw === undefined || typeof fw === "number") &&
		!(Array.isArray(style) || typeof style === "function") &&
		Object.keys(others).every((name) => PLAIN.test(name));
	if (!isPlain) return <Anchor {...props} />;
	return (
		<a
			{...(others as A)}
			className={className ? `${LINK} ${className}` : LINK}
			style={
				{
					...style,
					...(size && {
						"--text-fz": `var(--mantine-font-size-${size})`,
						"--text-lh": `var(--mantine-line-height-${size})`,
					}),
					...(lineClamp && { "--text-line-clamp": lineClamp }),
					...(fw && { fontWeight: fw }),
					...(c && { color: c }),
					...(maw && { maxWidth: rem(maw) }),
				} as A["style"]
			}
			data-size={size}
			data-underline={underline}
			data-inherit={inherit || undefined}
			data-line-clamp={lineClamp ? true : undefined}
		/>
	);
}

const ButtonAnchor = (props: ButtonProps & Omit<A, keyof ButtonProps>) => (
	<Button component="a" {...props} />
);

const MenuAnchor = (props: MenuItemProps & Omit<A, keyof MenuItemProps>) => (
	<Menu.Item component="a" {...props} />
);

/**
 * A link to a page of the console. The type check compares `to`, `params` and `search` with the
 * routes.
 */
export const TextLink = createLink(AnchorLink);

/** A link that looks like a button, such as "New risk". */
export const ButtonLink = createLink(ButtonAnchor);

/** A link in a menu. */
export const MenuLink = createLink(MenuAnchor);
