"""Marian in Hugging Face transformers on the work of `train_step.py` and `decode.py`.

`compare_toolkits.py` runs this script in a separate environment:

    pip install torch==2.13.0 transformers==5.23.0 sentencepiece==0.2.3

Adam, all dropouts 0.1, label smoothing 0.1, PyTorch's eager mode.
"""

from __future__ import annotations

from measure import THREADS, median_seconds, random_ids, report
from toolkit_options import VOCAB, options


def main() -> None:
    args = options(__doc__).parse_args()
    import torch
    import transformers

    torch.set_num_threads(THREADS)
    config = transformers.MarianConfig(
        vocab_size=VOCAB,
        decoder_vocab_size=VOCAB,
        max_position_embeddings=128,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=2048,
        decoder_ffn_dim=2048,
        d_model=512,
        dropout=0.1,
        attention_dropout=0.1,
        activation_dropout=0.1,
        activation_function="relu",
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        forced_eos_token_id=None,
    )
    model = transformers.MarianMTModel(config)
    if args.task == "train":
        model.train()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
        loss_of = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
        ids = torch.from_numpy(random_ids(args.rows, args.length, VOCAB)).long()
        mask = torch.ones_like(ids)

        def run() -> object:
            optimizer.zero_grad(set_to_none=True)
            logits = model(
                input_ids=ids,
                attention_mask=mask,
                decoder_input_ids=ids.roll(1, 1),
                use_cache=False,
            ).logits
            loss = loss_of(logits.view(-1, VOCAB), ids.view(-1))
            loss.backward()
            optimizer.step()
            return loss.item()

        tokens = 2 * args.rows * args.length
    else:
        model.eval()
        ids = torch.from_numpy(random_ids(args.rows, args.source, VOCAB)).long()
        mask = torch.ones_like(ids)

        @torch.inference_mode()
        def run() -> object:
            made = model.generate(
                input_ids=ids,
                attention_mask=mask,
                num_beams=args.beam,
                do_sample=False,
                min_new_tokens=args.target,
                max_new_tokens=args.target,
            )
            assert made.shape == (args.rows, args.target + 1)
            return made

        tokens = args.rows * args.target
    seconds = median_seconds(run, repeats=args.repeats)
    name = f"transformers {transformers.__version__}, torch {torch.__version__}"
    report(toolkit=name, tokens_per_second=round(tokens / seconds))


if __name__ == "__main__":
    main()
