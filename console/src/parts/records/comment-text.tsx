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
						description:
							"Type @ to mention a member. The comment then stands on their home page.",
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

/**
 * Returns the members of whom each typed word begins a part of the name or of the mailbox, and first
 * those whose name begins so. The domain of an address is the same for most members.
 */
function matching(members: readonly Mentionable[], words: readonly string[]) {
	const typed = words.join(" ");
	const nameBegins = ({ name }: Mentionable) =>
		name.toLowerCase().startsWith(typed);
	const found = members.filter((member) => {
		const parts = partsOf(member);
		return words.every((word) => parts.some((part) => part.startsWith(word)));
	});
	return [
		...found.filter(nameBegins),
		...found.filter((member) => !nameBegins(member)),
	].slice(0, MAX_SHOWN);
}

function partsOf({ name, email }: Mentionable): string[] {
	const mailbox = email.toLowerCase().replace(/@.*/, "");
	return [
		...name.toLowerCase().split(/[\s-]+/),
		...mailbox.split(/[.\-_]/),
		mailbox,
	];
}
