import { docs } from "virtual:docs";
import { Anchor } from "@mantine/core";
import { TextLink } from "../../parts/links.tsx";
import type { LinkProps } from "../../parts/markdown/markdown.tsx";

const DOCUMENT = /^(?:(?<name>[\w-]+)\.md)?(?:#(?<hash>.*))?$/;

/**
 * Shows a link to another document or to the web. A link to a file that only the source has is plain
 * text.
 */
export function Linked({ to, isFileName, children }: LinkProps) {
	if (/^https?:/.test(to)) {
		return (
			<Anchor
				href={to}
				target="_blank"
				rel="noreferrer"
				inherit
				underline="always"
			>
				{children}
			</Anchor>
		);
	}
	const { name, hash } = DOCUMENT.exec(to)?.groups ?? {};
	if (hash && !name) {
		return (
			<Anchor href={`#${hash}`} inherit underline="always">
				{children}
			</Anchor>
		);
	}
	const found = docs.find((one) => one.name === name);
	return found ? (
		<TextLink
			to="/help/$page"
			params={{ page: found.name }}
			hash={hash ?? ""}
			inherit
			underline="always"
		>
			{/* A document names others by their files, which mean nothing to a reader. */}
			{isFileName ? found.title : children}
		</TextLink>
	) : (
		children
	);
}
