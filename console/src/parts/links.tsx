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

type A = ComponentPropsWithRef<"a">;

const AnchorLink = (props: AnchorProps & Omit<A, keyof AnchorProps>) => (
	<Anchor {...props} />
);
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
