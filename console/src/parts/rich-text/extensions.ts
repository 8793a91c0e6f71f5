import { Link } from "@mantine/tiptap";
import { type AnyExtension, Extension, getSchema } from "@tiptap/core";
import { Code } from "@tiptap/extension-code";
import { ListItem, TaskItem, TaskList } from "@tiptap/extension-list";
import {
	Table,
	TableCell,
	TableHeader,
	TableRow,
} from "@tiptap/extension-table";
import StarterKit from "@tiptap/starter-kit";

/** A link to the web or to a mail address, as readers see it. `example.com` becomes a whole address. */
const WebLink = Link.extend({
	inclusive: false,
	addCommands() {
		const commands = this.parent?.();
		return {
			...commands,
			setLink: ({ href, ...rest }) =>
				commands?.setLink?.({ ...rest, href: addressFrom(href) }) ??
				(() => false),
		};
	},
}).configure({
	openOnClick: false,
	HTMLAttributes: { target: null, rel: null },
	isAllowedUri: (address) => /^(?:https?:\/\/|mailto:)/i.test(address),
});

function addressFrom(typed: string): string {
	const address = typed.trim();
	if (/^[a-z][a-z\d+.-]*:/i.test(address)) return address;
	return /^[^\s/@]+@[^\s/@]+$/.test(address)
		? `mailto:${address}`
		: `https://${address}`;
}

/** Escape leaves the editor, because Tab moves in lists and tables. */
const Leave = Extension.create({
	name: "leave",
	addKeyboardShortcuts() {
		return { Escape: () => this.editor.commands.blur() };
	},
});

/** What a text can hold in the editor: what Markdown can say, and no more. */
export const EXTENSIONS: AnyExtension[] = [
	StarterKit.configure({
		code: false,
		link: false,
		listItem: false,
		underline: false,
		trailingNode: false,
	}),
	// In Markdown an item can begin with a quotation, and code can be bold or a link.
	ListItem.extend({ content: "block+" }),
	TaskList,
	TaskItem.extend({ content: "block+" }).configure({ nested: true }),
	// Markdown writes the signs of code inside all others, so code is the last mark.
	Code.extend({ excludes: "", priority: 1 }),
	WebLink,
	// A cell of a table in Markdown is one line.
	Table,
	TableRow,
	TableHeader.extend({ content: "paragraph" }),
	TableCell.extend({ content: "paragraph" }),
	Leave,
];

export const SCHEMA = getSchema(EXTENSIONS);
