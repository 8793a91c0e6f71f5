import {
	Anchor,
	type AnchorProps,
	Button,
	type ButtonProps,
	Menu,
	type MenuItemProps,
} from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import type { ComponentPropsWithRef } from "react";
import { plainText } from "./plain-text.tsx";

type A = ComponentPropsWithRef<"a">;

/**
 * Looks like Mantine's Anchor. It is a plain element unless it has rarer properties, because a page
 * has up to a hundred links, and each Anchor renders three components.
 */
function AnchorLink(props: AnchorProps & Omit<A, keyof AnchorProps>) {
	const { underline = "hover", ...rest } = props;
	const plain = plainText(rest);
	if (!plain) return <Anchor {...props} />;
	return (
		<a
			{...(plain as A)}
			className={`${Anchor.classes.root} ${plain.className}`}
			data-underline={underline}
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
