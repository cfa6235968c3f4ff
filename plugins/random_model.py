"""Models with random weights, made from a configuration alone: nothing is downloaded. For tests and to measure speed;
what they say means nothing."""
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")


def tokenizer():
    """One token a byte, and the special ones."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: number for number, symbol in enumerate(alphabet + SPECIAL)}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(SPECIAL)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>", additional_special_tokens=SPECIAL[3:],
        chat_template=TEMPLATE)
    # Names under which the Qwen processors look these up.
    fast.image_token, fast.video_token = "<|image_pad|>", "<|video_pad|>"
    fast.vision_start_token, fast.vision_end_token = "<|vision_start|>", "<|vision_end|>"
    return fast


def tiny_llama(words):
    return transformers.LlamaConfig(vocab_size=len(words), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=4096, bos_token_id=None,
                                    eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id)


def qwen_config(words, text: dict, vision: dict):
    ids = {name: words.convert_tokens_to_ids(token) for name, token in
           [("image_token_id", "<|image_pad|>"), ("video_token_id", "<|video_pad|>"),
            ("vision_start_token_id", "<|vision_start|>"), ("vision_end_token_id", "<|vision_end|>")]}
    ids |= {"bos_token_id": None, "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    vision = vision | {"patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "window_size": 112, "in_channels": 3,
                       "out_hidden_size": text["hidden_size"]}
    return transformers.Qwen2_5_VLConfig(text_config=text | ids, vision_config=vision, **ids)


def tiny_qwen(words):
    text = {"vocab_size": len(words), "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 8192,
            "rope_scaling": {"type": "mrope", "rope_type": "default", "mrope_section": [2, 3, 3]}}
    return qwen_config(words, text, {"depth": 2, "hidden_size": 64, "num_heads": 4, "intermediate_size": 128,
                                     "fullatt_block_indexes": [1]})


def qwen_3b(words):
    text = {"vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
            "num_attention_heads": 16, "num_key_value_heads": 2, "max_position_embeddings": 128000, "rms_norm_eps": 1e-6,
            "tie_word_embeddings": True, "rope_theta": 1e6,
            "rope_scaling": {"type": "mrope", "rope_type": "default", "mrope_section": [16, 24, 24]}}
    return qwen_config(words, text, {"depth": 32, "hidden_size": 1280, "num_heads": 16, "intermediate_size": 3420,
                                     "fullatt_block_indexes": [7, 15, 23, 31]})


def qwen_processor(words):
    return transformers.Qwen2_5_VLProcessor(image_processor=transformers.Qwen2VLImageProcessor(), tokenizer=words,
                                            video_processor=transformers.Qwen2VLVideoProcessor(), chat_template=TEMPLATE)


def random_model(name: str, dtype, device: str, attention: str):
    words = tokenizer()
    torch.manual_seed(1)
    if name == "llama":
        config, kind, processor = tiny_llama(words), transformers.AutoModelForCausalLM, words
    else:
        config = tiny_qwen(words) if name == "qwen2.5-vl" else qwen_3b(words)
        kind, processor = transformers.AutoModelForImageTextToText, qwen_processor(words)
    with torch.device(device):  # made where it will be: three billion weights take minutes on a CPU
        model = kind.from_config(config, dtype=dtype, attn_implementation=attention)
    model.generation_config.eos_token_id = words.eos_token_id
    return model.to(device), processor
