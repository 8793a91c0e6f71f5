import { useRef, useState } from "react";
import { GroupForm } from "./group-form.tsx";

/** Lets a dialog with a picker of groups add a group if the picker has nothing to offer. */
export function useGroupInPlace(onAdded: (id: string) => void) {
	const [isOpen, setOpen] = useState(false);
	const [isAdded, setAdded] = useState(false);
	const button = useRef<HTMLButtonElement>(null);
	return {
		/** Properties of NoGroup. */
		offer: { button, onAdd: () => setOpen(true) },
		/** Stands outside of the form of the dialog, which would be submitted too. */
		form: isOpen && (
			<GroupForm
				from={button}
				onSaved={(id) => {
					setAdded(true);
					onAdded(id);
				}}
				onClose={() => setOpen(false)}
			/>
		),
		/** Properties of the picker. It takes the focus of NoGroup after a group was added. */
		picker: isAdded ? { autoFocus: true, openOnFocus: false } : {},
	};
}
