import { Combobox, Text, Textarea, useCombobox } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";

export interface Mentionable {
	user_id: string;
	name: string;
	email: string;
}

const MAX_SHOWN = 8;

/** The text of a comment. After an "@", the reader chooses a member to mention. */
export function CommentText({
	members,
	value,
	onChange,
	onMention,
	error,
}: {
	/** The members that the reader can still mention. */
	members: readonly Mentionable[];
	value: string;
	onChange: (text: string) => void;
	onMention: (userId: string) => void;
	error?: ReactNode;
}) {
	const [caret, setCaret] = useState(0);
	const input = useRef<HTMLTextAreaElement>(null);
	const combobox = useCombobox();
	const mention = typedMention(value, caret);
	const offered = mention ? matching(members, mention.words) : [];
	const { openDropdown, closeDropdown, selectFirstOption } = combobox;
	const ids = offered.map(({ user_id }) => user_id).join(" ");
	// biome-ignore lint/correctness/useExhaustiveDependencies: only other options open the list again.
	useEffect(() => {
		if (!ids) return closeDropdown();
		openDropdown();
		selectFirstOption();
	}, [ids]);

	const choose = (userId: string) => {
		const chosen = members.find(({ user_id }) => user_id === userId);
		if (!chosen || !mention) return;
		const before = `${value.slice(0, mention.start)}@${chosen.name} `;
		onChange(before + value.slice(caret));
		onMention(userId);
		setCaret(before.length);
		// React has written the new text by the next frame. The caret would otherwise be at its end.
		requestAnimationFrame(() => {
			input.current?.focus();
			input.current?.setSelectionRange(before.length, before.length);
		});
	};
	return (
		<Combobox store={combobox} onOptionSubmit={choose}>
			{/* While the list is closed, the arrow keys move the caret. */}
			<Combobox.Target withKeyboardNavigation={combobox.dropdownOpened}>
				<Textarea
					ref={input}
					label="Comment"
					{...(members.length > 0 && {
						description: "Type @ to mention a member.",
					})}
					autosize
					minRows={2}
					maxRows={12}
					value={value}
					error={error}
					onChange={({ currentTarget }) => {
						setCaret(currentTarget.selectionStart);
						onChange(currentTarget.value);
					}}
					onSelect={({ currentTarget }) =>
						setCaret(currentTarget.selectionStart)
					}
					onBlur={() => closeDropdown()}
				/>
			</Combobox.Target>
			<Combobox.Dropdown>
				<Combobox.Options aria-label="Members">
					{offered.map(({ user_id, name, email }) => (
						<Combobox.Option key={user_id} value={user_id}>
							<Text size="sm">{name}</Text>
							<Text size="xs">{email}</Text>
						</Combobox.Option>
					))}
				</Combobox.Options>
			</Combobox.Dropdown>
		</Combobox>
	);
}

/** Returns where the mention that the reader is typing starts, and its words. */
function typedMention(text: string, caret: number) {
	const start = caret > 0 ? text.lastIndexOf("@", caret - 1) : -1;
	if (start < 0) return undefined;
	// An "@" within a word belongs to an e-mail address.
	if (start > 0 && text.charAt(start - 1).trim() !== "") return undefined;
	const typed = text.slice(start + 1, caret);
	if (typed.includes("\n")) return undefined;
	return { start, words: typed.toLowerCase().split(" ").filter(Boolean) };
}

function matching(members: readonly Mentionable[], words: readonly string[]) {
	return members
		.filter(({ name, email }) => {
			const among = `${name} ${email}`.toLowerCase();
			return words.every((word) => among.includes(word));
		})
		.slice(0, MAX_SHOWN);
}
