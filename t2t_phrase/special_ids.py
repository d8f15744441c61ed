"""The ids that mean the same in every vocabulary, as in tensor2tensor."""

PAD_ID = 0
EOS_ID = 1  # ends every source and target
UNK_ID = 2  # a word that is not in the vocabulary
