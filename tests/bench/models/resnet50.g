# ResNet-50 (He et al., 2015, with the stride in the 3 × 3 convolution), parameters named as torchvision names them.
dim N in 1..8 tune 1

fn conv_norm(x, out, kernel, stride=1, conv="conv", norm="bn") {
    x = conv2d(x, out, kernel, stride=stride, pad=(kernel - 1) // 2, bias=false) as "{conv}"
    return batch_norm(x) as "{norm}"
}

fn bottleneck(x, width, stride) {
    h = relu(conv_norm(x, width, 1, conv="conv1", norm="bn1"))
    h = relu(conv_norm(h, width, 3, stride=stride, conv="conv2", norm="bn2"))
    h = conv_norm(h, 4 * width, 1, conv="conv3", norm="bn3")
    if x.shape[1] != 4 * width or stride != 1 {
        x = conv_norm(x, 4 * width, 1, stride=stride, conv="downsample.0", norm="downsample.1")
    }
    return relu(h + x)
}

fn stage(x, blocks, width, stride) {
    for i in 0..<blocks { x = bottleneck(x, width, stride if i == 0 else 1) as "{i}" }
    return x
}

model resnet50(image: f32[N, 3, 224, 224]) -> (logits: f32[N, 1000]) {
    x = max_pool2d(relu(conv_norm(image, 64, 7, stride=2, conv="conv1", norm="bn1")), 3, stride=2, pad=1)
    x = stage(x, 3, 64, 1) as "layer1"
    x = stage(x, 4, 128, 2) as "layer2"
    x = stage(x, 6, 256, 2) as "layer3"
    x = stage(x, 3, 512, 2) as "layer4"
    logits = linear(global_avg_pool(x), 1000) as "fc"
}
