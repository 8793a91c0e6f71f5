import {
	Anchor,
	type AnchorProps,
	Button,
	type ButtonProps,
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

/** A link to one of our pages. `to`, `params` and `search` are checked against the routes. */
export const TextLink = createLink(AnchorLink);

/** A link that looks like a button, for links such as "New risk". */
export const ButtonLink = createLink(ButtonAnchor);
