import "@mantine/tiptap/styles.css";
import { Input } from "@mantine/core";
import { RichTextEditor as Frame } from "@mantine/tiptap";
import { IconSourceCode } from "@tabler/icons-react";
import type { Node } from "@tiptap/pm/model";
import { useEditor, useEditorState } from "@tiptap/react";
import { useId, useRef } from "react";
import { styleNonce } from "../../nonce.ts";
import { EXTENSIONS } from "./extensions.ts";
import type { RichText } from "./from-markdown.ts";
import styles from "./rich-text-editor.module.css";
import { markdownFrom } from "./to-markdown.ts";

/** Edits a text as it looks. `onChange` gets its Markdown after each change. */
export default function RichTextEditor({
	text,
	label,
	error,
	onChange,
}: {
	/** The text at the beginning. Later values change nothing. */
	text: RichText;
	label: string;
	error?: React.ReactNode;
	onChange: (markdown: string) => void;
}) {
	const id = useId();
	const sources = useRef<ReadonlyMap<Node, string>>(new Map());
	const editor = useEditor({
		extensions: EXTENSIONS,
		content: text.doc,
		injectNonce: styleNonce,
		editorProps: {
			attributes: {
				role: "textbox",
				"aria-multiline": "true",
				"aria-label": label,
				"aria-describedby": id,
			},
		},
		onCreate: ({ editor }) => {
			sources.current = sourcesOf(editor.state.doc, text);
		},
		onUpdate: ({ editor }) =>
			onChange(markdownFrom(editor.state.doc, sources.current)),
	});
	return (
		<Input.Wrapper
			label={label}
			labelElement="div"
			description="Ctrl+B makes words bold, Ctrl+K a link. Press Escape, then Tab, to leave the text."
			descriptionProps={{ id }}
			error={error}
		>
			<Frame
				editor={editor}
				mt={4}
				classNames={styles}
				labels={{ strikeControlLabel: "Struck through" }}
			>
				<Toolbar editor={editor} />
				<Frame.Content />
			</Frame>
		</Input.Wrapper>
	);
}

/** The frame has the same sign for code in a line and for a block of code. */
const CodeBlockIcon = (props: { style?: React.CSSProperties }) => (
	<IconSourceCode {...props} stroke={1.5} />
);

function sourcesOf(doc: Node, { sources }: RichText): Map<Node, string> {
	const kept = new Map<Node, string>();
	if (doc.childCount !== sources.length) return kept;
	sources.forEach((source, index) => {
		if (source !== undefined) kept.set(doc.child(index), source);
	});
	return kept;
}

function Toolbar({ editor }: { editor: ReturnType<typeof useEditor> }) {
	const isInTable = useEditorState({
		editor,
		selector: ({ editor }) => editor?.isActive("table") ?? false,
	});
	return (
		<Frame.Toolbar sticky stickyOffset="var(--app-shell-header-offset, 0px)">
			<Frame.ControlsGroup>
				<Frame.Bold />
				<Frame.Italic />
				<Frame.Strikethrough />
				<Frame.Code />
			</Frame.ControlsGroup>
			<Frame.ControlsGroup>
				<Frame.H1 />
				<Frame.H2 />
				<Frame.H3 />
			</Frame.ControlsGroup>
			<Frame.ControlsGroup>
				<Frame.BulletList />
				<Frame.OrderedList />
				<Frame.TaskList />
			</Frame.ControlsGroup>
			<Frame.ControlsGroup>
				<Frame.Blockquote />
				<Frame.CodeBlock icon={CodeBlockIcon} />
				<Frame.Hr />
			</Frame.ControlsGroup>
			<Frame.ControlsGroup>
				<Frame.Link popoverProps={{ offset: 4 }} />
				<Frame.Unlink />
			</Frame.ControlsGroup>
			<Frame.ControlsGroup>
				<Frame.TableInsert />
				{isInTable && (
					<>
						<Frame.TableRowBefore />
						<Frame.TableRowAfter />
						<Frame.TableRowDelete />
						<Frame.TableColumnBefore />
						<Frame.TableColumnAfter />
						<Frame.TableColumnDelete />
						<Frame.TableDelete />
					</>
				)}
			</Frame.ControlsGroup>
			<Frame.ControlsGroup>
				<Frame.Undo />
				<Frame.Redo />
			</Frame.ControlsGroup>
		</Frame.Toolbar>
	);
}
